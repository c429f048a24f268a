"""A data set from a study: PyTorch reads its trajectories, and a network of one layer learns a step of time.

    turgor sweep drop-2d --vary ball.gas.nRT=20:80:8 --measure "rebound=max(ball.velocity.y)" --seconds 1 \\
        --record every=2 -o balls
    python examples/learn/dataset.py balls

`Trajectories` is a data set as PyTorch means it: it has a length and items. A DataLoader shuffles it, stacks items to
batches and reads them in processes of its own. Nothing is loaded before it is asked for, so it may be larger than
memory. Without PyTorch this program says so and shows one item.
"""

import sys
from typing import Any

import numpy as np

from turgor import TurgorError
from turgor.study.trajectories import Trajectories

EPOCHS, BATCH, WORKERS = 30, 4, 2


def main(folder: str) -> None:
    data = Trajectories(folder, fields=["positions", "velocities"], dtype=np.float32)
    item = data[0]
    print(f"{len(data)} runs; the first one is run {item['run']} with inputs {item['inputs']}")
    print(f"positions {item['positions'].shape} (frames, vertices, dim), every {np.diff(item['time'])[0]:.3f} s")
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: pip install torch")
        return
    learn(torch, data)


def learn(torch: Any, data: Trajectories) -> None:
    """A linear map from a vertex's place and velocity to its velocity one recorded frame later."""
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=WORKERS)
    dim = data[0]["positions"].shape[-1]
    model = torch.nn.Linear(3 * dim, dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(EPOCHS):
        errors, still = [], []
        for batch in loader:  # (batch, frames, vertices, dim), as tensors
            now, after = batch["velocities"][:, :-1], batch["velocities"][:, 1:]
            center = batch["positions"][:, :-1].mean(dim=2, keepdim=True)
            place = batch["positions"][:, :-1] - center
            features = torch.cat([place, now, center.expand_as(place)], dim=-1)
            error = ((now + model(features) - after) ** 2).mean()
            optimizer.zero_grad()
            error.backward()
            optimizer.step()
            errors.append(error.item())
            still.append(((now - after) ** 2).mean().item())
        if epoch % 10 == 0 or epoch == EPOCHS - 1:
            print(f"epoch {epoch:2}: error {np.mean(errors):.4f} (m/s)², of keeping the velocity {np.mean(still):.4f}")
    assert np.mean(errors) < np.mean(still), "it has learnt less than that velocities stay as they are"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/learn/dataset.py FOLDER_OF_A_STUDY")
    try:
        main(sys.argv[1])
    except TurgorError as error:  # a folder without a data set
        sys.exit(str(error))
