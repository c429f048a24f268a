# The playground in a container:
#   docker build -t turgor .
#   docker run --rm -p 8080:8080 turgor         the address with its token is printed; open it with localhost as the host
#   docker run --rm turgor run drop --json      any other command
FROM python:3.12-slim

# Pictures and videos are drawn off-screen by VTK, which needs a software OpenGL (as tools/graphics installs it).
RUN apt-get update \
    && apt-get install -y --no-install-recommends libegl1 libgl1 libgl1-mesa-dri \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE MANIFEST.in ./
COPY src ./src
RUN pip install --no-cache-dir ".[play]"

# Kernels are compiled at the first run and kept in the user's home: mount a volume on /home/turgor to keep them.
RUN useradd --create-home turgor
USER turgor
WORKDIR /home/turgor

EXPOSE 8080
ENTRYPOINT ["turgor"]
CMD ["play", "--host", "0.0.0.0", "--port", "8080", "--no-browser"]
