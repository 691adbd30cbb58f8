// Where a model comes from: the script that the site has for its own, or the files of a reader.
(function (live) {
  "use strict";

  const MOST_BYTES = 256 * 2 ** 20;
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1) + " MB";

  // The files of a drop; those of a folder too.
  async function droppedFiles(transfer) {
    const entries = Array.from(transfer.items || []).map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean);
    if (!entries.some((entry) => entry.isDirectory)) return Array.from(transfer.files);
    const found = await Promise.all(entries.map(async (entry) => {
      if (!entry.isDirectory) return [entry];
      return new Promise((done, fail) => entry.createReader().readEntries(done, fail));
    }));
    const files = [].concat(...found).filter((entry) => entry.isFile);
    return Promise.all(files.map((entry) => new Promise((done, fail) => entry.file(done, fail))));
  }

  // config.json and model.safetensors among the files of a reader.
  function twoFiles(files) {
    const named = (ending) => files.filter((file) => file.name.toLowerCase().endsWith(ending));
    const configs = named(".json"), config = configs.find((file) => file.name === "config.json") || configs[0];
    const weights = named(".safetensors")[0];
    if (!config || !weights) {
      const came = files.length ? files.slice(0, 4).map((file) => file.name).join(", ") : "nothing";
      throw new live.Problem(`${came} came, and ${weights ? "config.json" : config ? "model.safetensors" : "neither config.json "
        + "nor model.safetensors"} is missing. Choose both files together, or drop the folder that holds them.`);
    }
    if (weights.size > MOST_BYTES) {
      throw new live.Problem(`${weights.name} has ${megabytes(weights.size)}, expected at most ${megabytes(MOST_BYTES)}: `
        + "a page is no place for a larger model. Run it with clearformer.");
    }
    return [config, weights];
  }

  // What a server sends, as a file in memory; `told` hears how many bytes have come.
  async function download(source, told) {
    const response = await fetch(source), parts = [];
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
    const reader = response.body.getReader();
    for (let came = 0, part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      told(came += part.value.length);
    }
    return new Blob(parts, { type: "text/javascript" });
  }

  function runScript(address) {
    return new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = fail;
      document.head.append(script);
    });
  }

  // A page that was opened as a file may not ask for bytes, and gets them at once.
  async function fetchScript(source, told) {
    if (!window.location.protocol.startsWith("http")) return runScript(source);
    const address = URL.createObjectURL(await download(source, told));
    await runScript(address);
    URL.revokeObjectURL(address);
  }

  // What the script of a model has brought; it is fetched once.
  async function weightsOf(name, source, told) {
    live.weights = live.weights || {};
    if (!live.weights[name]) {
      try {
        await fetchScript(source, told);
      } catch (error) {
        throw new live.Problem(`The weights could not be loaded from ${source}. Is the network, or the folder of the site, `
          + "still there? The picture stays; try again, or open a model of your own.");
      }
    }
    if (!live.weights[name]) throw new live.Problem(`${source} holds no model called “${name}”. Build the site once more.`);
    return live.weights[name];
  }

  function bytesOf(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes.buffer;
  }

  Object.assign(live, { droppedFiles, twoFiles, weightsOf, bytesOf, megabytes });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
