// The shell of turgor's page. It reads the server's news, and acts by the keys of viser's commands, as a person would.
"use strict";
(() => {
  const RETRY = 1000; // ms between two attempts to reach a server that has gone
  const LONGEST = 15000; // ms that the veil waits for something to be drawn: an empty scene has no picture
  let facts = {};
  let veiled = true;
  let drags = null; // that the server had seen when this page came
  let server = null; // which start of it
  let note = ""; // said for a moment
  let noted = 0;

  const at = (id) => document.getElementById("turgor-" + id);
  const picture = () => document.querySelector("canvas[data-engine]");

  function say(id, text) {
    const place = at(id);
    if (place.textContent !== text) place.textContent = text;
    place.hidden = !text;
  }

  function tell(text, ms = 6000) {
    note = text;
    clearTimeout(noted);
    noted = setTimeout(() => tell("", 0), ms);
    show();
  }

  // What a person would press. viser's commands listen on the root element.
  function press(code, more = {}) {
    const key = code === "Space" ? " " : code.replace(/^(Key|Digit)/, "").toLowerCase();
    document.documentElement.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, ...more }));
  }

  function show() {
    say("sign", note || facts.busy || (veiled ? "turgor is loading …" : ""));
    at("bar").hidden = veiled;
    say("hint", veiled || facts.busy || facts.drags !== drags ? "" : facts.hint || "");
    at("play").classList.toggle("paused", !facts.playing);
    at("play").ariaLabel = facts.playing ? "Pause the scene" : "Play the scene";
    at("play").title = at("play").ariaLabel + " (space)";
    at("speed").value = String(facts.speed);
    if (facts.scene) document.title = facts.scene + " – turgor";
  }

  // The server's news: a line of JSON for each change, on a response that ends with the server. A page that is not seen
  // does not read: browsers open only six connections to one server.
  let reading = null;
  async function listen() {
    if (reading || document.hidden) return;
    reading = new AbortController();
    const signal = reading.signal;
    try {
      const answer = await fetch("/turgor/news", { headers: { "X-Turgor-Page": "1" }, cache: "no-store", signal });
      if (answer.status === 403) {
        say("lost", "The playground was started again: open the address that it printed.");
        return;
      }
      if (!answer.ok) throw new Error(answer.statusText);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ; ) {
        const { value, done } = await reader.read();
        if (done) break;
        const lines = (text + value).split("\n");
        text = lines.pop();
        for (const line of lines) hear(JSON.parse(line));
      }
    } catch (error) { /* it has gone, or the page is not seen */ }
    reading = null;
    if (signal.aborted) return listen();
    say("lost", "The playground has ended. " + (facts.again ? "Start it again: " + facts.again : "Start it again."));
    setTimeout(listen, RETRY);
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? reading?.abort() : listen()));

  function hear(news) {
    if (server !== null && news.server !== server) location.reload(); // another start: its page may be another, too
    facts = news;
    server = news.server;
    if (drags === null) drags = news.drags;
    say("lost", "");
    show();
  }

  // A file goes the way of viser's upload buttons.
  function upload(file) {
    const input = document.querySelector('#root input[accept=".turgor-drop"]');
    if (!input) return tell("The page is not connected yet; try again.");
    const parcel = new DataTransfer();
    parcel.items.add(file);
    input.files = parcel.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function takeDrops() {
    const carries = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    addEventListener("dragover", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      tell("Drop a mesh (.obj .stl .ply .off .glb) or a scene (.toml)", 400);
    });
    addEventListener("drop", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      if (event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
    });
  }

  // A link carries a scene: #scene= and its packed file in base64url. The server unpacks it, in bounds.
  let carried = null;
  function readLink() {
    const found = /^#scene=(.*)$/.exec(location.hash);
    if (!found) return;
    carried = found[1];
    history.replaceState(null, "", location.pathname + location.search); // viser makes its socket's address of it
    if (!veiled) offer();
  }

  function offer() {
    if (carried === null) return;
    at("ask").returnValue = "";
    at("ask").showModal();
  }

  function openLink() {
    const code = carried;
    carried = null;
    if (at("ask").returnValue !== "open") return;
    try {
      const text = atob(code.replace(/-/g, "+").replace(/_/g, "/"));
      upload(new File([Uint8Array.from(text, (letter) => letter.charCodeAt(0))], "link.scene"));
    } catch (error) {
      tell("The link is damaged or cut short; copy all of it.");
    }
  }

  async function copyLink() {
    const answer = await fetch("/turgor/link", { headers: { "X-Turgor-Page": "1" }, cache: "no-store" });
    const text = (await answer.text()).trim();
    if (!answer.ok) return tell(text);
    const link = location.origin + "/" + text;
    try {
      await navigator.clipboard.writeText(link);
      tell("The link is copied. It carries the scene: open it in any turgor’s page.");
    } catch (error) {
      prompt("Copy this link:", link); // the clipboard is for secure pages only
    }
  }

  readLink();

  // The page is dark where the system is. The server sets viser's theme for this page, and the colours of the floor.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const agrees = () => (document.documentElement.dataset.mantineColorScheme === "dark") === system.matches;
  function followSystem() {
    if (!agrees()) press(system.matches ? "KeyY" : "KeyU", { ctrlKey: true, altKey: true, shiftKey: true });
  }

  // The veil goes when viser has drawn something.
  function drawn() {
    const canvas = picture();
    if (!canvas || !canvas.width || !canvas.height) return false;
    const small = new OffscreenCanvas(32, 32).getContext("2d");
    small.drawImage(canvas, 0, 0, 32, 32);
    return small.getImageData(0, 0, 32, 32).data.some((value) => value > 0);
  }

  function unveil(since) {
    const patient = facts.busy || performance.now() - since < LONGEST;
    if (patient && !(drawn() && agrees())) return setTimeout(unveil, 100, facts.busy ? performance.now() : since);
    veiled = false;
    at("veil").remove();
    show();
    offer();
  }

  // Bar, hint and sentences stand over viser's picture, wherever its panels leave it.
  function place() {
    const canvas = picture();
    if (canvas) {
      const box = canvas.getBoundingClientRect();
      const style = document.getElementById("turgor").style;
      style.setProperty("--left", box.left + "px");
      style.setProperty("--width", box.width + "px");
    }
  }

  // On a narrow screen viser's panel is a drawer at the bottom: it begins closed, so that the picture is free.
  const drawer = () => document.querySelector('#root [style*="max-height: 60%"]');

  function follow() {
    const sizes = new ResizeObserver(place);
    let seen = null;
    let closed = null;
    new MutationObserver(() => {
      const canvas = picture();
      if (canvas && canvas !== seen) {
        seen = canvas;
        sizes.disconnect();
        sizes.observe(canvas);
        place();
      }
      const panel = drawer();
      const handle = panel && panel.querySelector('[style*="cursor: pointer"]');
      if (handle && panel !== closed) {
        closed = panel;
        handle.click();
      }
    }).observe(document.getElementById("root"), { childList: true, subtree: true });
  }

  function listenToBar() {
    const bar = at("bar");
    bar.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.key) press(button.dataset.key);
      if (event.detail > 0) button.blur(); // by a pointer: keys are the scene's again
    });
    at("speed").addEventListener("change", (event) => {
      press(event.target.selectedOptions[0].dataset.key);
      event.target.blur();
      setTimeout(show, 1000); // what it is by then: there is no news of what was changed back at once
    });
    // A button that has the focus takes space and Enter; they are not viser's as well.
    bar.addEventListener("keydown", (event) => {
      if (event.code === "Space" || event.code === "Enter") event.stopPropagation();
    });
  }

  function listenToKeys() {
    const help = () => {
      at("help").replaceChildren(at("help-text").content.cloneNode(true));
      at("help").showModal();
    };
    at("help").addEventListener("close", () => at("help").replaceChildren());
    at("keys").addEventListener("click", help);
    at("link").addEventListener("click", copyLink);
    at("ask").addEventListener("close", openLink);
    addEventListener("hashchange", readLink);
    addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable=true]");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?" || event.key.toLowerCase() === "h") at("help").open ? at("help").close() : help();
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    listenToBar();
    listenToKeys();
    takeDrops();
    follow();
    listen();
    setInterval(followSystem, 300);
    unveil(performance.now());
  });
})();
