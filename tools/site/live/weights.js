// What a model's two files hold: config.json and model.safetensors, read and checked. No DOM.
(function (live) {
  "use strict";

  const SIZES = ["n_vocab", "n_positions", "d_model", "n_heads", "n_layers"];
  const FLAGS = ["rotary", "tied"]; // true unless the configuration says otherwise
  const OTHERS = ["d_ff", "n_kv_heads", "eps", "activation", "norm", "feed_forward", "rope"];
  const OURS = "This page runs the GPT of this book, as chapter 9's gpt.py saves it: config.json with "
    + SIZES.join(", ") + " and the tokenizer, and model.safetensors.";
  const BYTES = { F32: 4, F16: 2, BF16: 2, F64: 8, I8: 1 };
  const SCALES = ".scales"; // of a matrix in 8 bits: a number for each of its rows
  const MOST_HEADER = 1e8;

  // What the reader is told; every other error is a slip of this program.
  class Problem extends Error {}

  // The configuration, its sizes checked.
  function readConfig(text) {
    let config;
    try {
      config = JSON.parse(text);
    } catch (error) {
      throw new Problem(`config.json is no JSON (${error.message}). ${OURS}`);
    }
    const kind = config && (config.model_type || (config.architectures || [])[0]);
    if (kind) throw new Problem(`config.json describes a model of the kind "${kind}". ${OURS}`);
    for (const size of SIZES) {
      const value = config === null ? undefined : config[size];
      if (!Number.isInteger(value) || value < 1) {
        throw new Problem(`config.json has ${size} = ${JSON.stringify(value)}, expected a whole number from 1. ${OURS}`);
      }
    }
    const other = OTHERS.find((name) => config[name] !== undefined && config[name] !== null);
    if (other) throw new Problem(`config.json names ${other}, which this page cannot change. ${OURS}`);
    const flag = FLAGS.find((name) => config[name] !== undefined && typeof config[name] !== "boolean");
    if (flag) throw new Problem(`config.json has ${flag} = ${JSON.stringify(config[flag])}, expected true or false. ${OURS}`);
    const { d_model: D, n_heads: H, rotary = true } = config;
    if (D % H || (rotary && D % (2 * H))) {
      throw new Problem(`config.json has d_model = ${D} and n_heads = ${H}, expected heads of `
        + (rotary ? "an even width: rotary positions turn pairs of features." : "equal width."));
    }
    return config;
  }

  // name -> shape, for all weights of the book's GPT.
  function expectedShapes(config) {
    const { n_vocab: V, n_positions: N, d_model: D, n_layers: M, rotary = true, tied = true } = config;
    const shapes = { "tokens.weight": [V, D], "decoder.norm.weight": [D], "decoder.norm.bias": [D] };
    if (!rotary) shapes["positions.weight"] = [N, D];
    if (!tied) shapes["head.weight"] = [V, D];
    const linear = (name, outputs, inputs) => {
      shapes[name + ".weight"] = [outputs, inputs];
      shapes[name + ".bias"] = [outputs];
    };
    for (let m = 0; m < M && m < 1000; m++) {
      const block = `decoder.blocks.${m}.`;
      linear(block + "attention.qkv", 3 * D, D);
      linear(block + "attention.out", D, D);
      linear(block + "feed_forward.up", 4 * D, D);
      linear(block + "feed_forward.down", D, 4 * D);
      for (const norm of ["attention_norm", "feed_forward_norm"]) {
        shapes[block + norm + ".weight"] = [D];
        shapes[block + norm + ".bias"] = [D];
      }
    }
    return shapes;
  }

  // The tensors of a safetensors file as they lie there: name -> { dtype, shape, bytes }.
  function readSafetensors(buffer) {
    const size = buffer.byteLength;
    if (size < 8) throw new Problem(`model.safetensors has ${size} bytes, expected thousands. Save or download it once more.`);
    const view = new DataView(buffer), length = view.getUint32(0, true) + 2 ** 32 * view.getUint32(4, true);
    if (length > MOST_HEADER) {
      throw new Problem("This is no safetensors file: its first eight bytes do not say how long its table of contents is. "
        + "Save the model with safetensors, as chapter 9's gpt.py does.");
    }
    const cut = `model.safetensors ends early: it has ${size} bytes and `;
    if (8 + length > size) throw new Problem(`${cut}its table of contents alone needs ${8 + length}. Copy it once more.`);
    let header;
    try {
      header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    } catch (error) {
      throw new Problem(`The table of contents of model.safetensors cannot be read (${error.message}). Copy it once more.`);
    }
    const tensors = {};
    for (const name of Object.keys(header).filter((name) => name !== "__metadata__")) {
      const { dtype, shape, data_offsets: place } = header[name] || {};
      if (!Array.isArray(shape) || !Array.isArray(place)) {
        throw new Problem(`${name} in model.safetensors has no shape or no place. Copy the file once more.`);
      }
      if (!BYTES[dtype]) {
        throw new Problem(`${name} has numbers of the kind ${dtype}, expected one of ${Object.keys(BYTES).join(", ")}.`);
      }
      const needed = shape.reduce((a, b) => a * b, 1) * BYTES[dtype];
      if (place[1] - place[0] !== needed || place[0] < 0) {
        throw new Problem(`${name} of shape ${shape.join(" × ")} has ${place[1] - place[0]} bytes in model.safetensors, `
          + `expected ${needed}. Copy the file once more.`);
      }
      if (8 + length + place[1] > size) {
        throw new Problem(`${cut}${name} reaches to ${8 + length + place[1]}. Copy it once more.`);
      }
      tensors[name] = { dtype, shape, bytes: new Uint8Array(buffer, 8 + length + place[0], needed) };
    }
    return tensors;
  }

  // Numbers of any of the kinds as float32.
  function toFloat32({ dtype, bytes }) {
    const own = bytes.slice().buffer; // aligned
    if (dtype === "F32") return new Float32Array(own);
    if (dtype === "F64") return Float32Array.from(new Float64Array(own));
    const halves = new Uint16Array(own), bits = new Uint32Array(halves.length), values = new Float32Array(bits.buffer);
    if (dtype === "BF16") for (let i = 0; i < halves.length; i++) bits[i] = halves[i] << 16;
    else for (let i = 0; i < halves.length; i++) values[i] = halfTable()[halves[i]];
    return values;
  }

  // A matrix in 8 bits: each row times its scale.
  function scaled({ shape, bytes }, scales) {
    const [rows, columns] = shape, whole = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    const values = new Float32Array(whole.length);
    for (let r = 0, i = 0; r < rows; r++) for (let c = 0; c < columns; c++, i++) values[i] = whole[i] * scales[r];
    return values;
  }

  let table = null;
  // The values of all 65,536 half-precision numbers.
  function halfTable() {
    if (table) return table;
    table = new Float32Array(65536);
    for (let i = 0; i < 65536; i++) {
      const sign = i & 0x8000 ? -1 : 1, exponent = (i >> 10) & 31, fraction = i & 1023;
      if (exponent === 31) table[i] = fraction ? NaN : sign * Infinity;
      else table[i] = exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -24 * fraction;
    }
    return table;
  }

  function scalesOf(found, name) {
    const scales = found[name + SCALES], rows = found[name].shape[0];
    if (!scales || scales.dtype !== "F32" || scales.shape.join() !== String(rows)) {
      throw new Problem(`${name} has numbers of the kind I8 and no ${name}${SCALES} of the kind F32 with ${rows} numbers. `
        + "Save the model in 16 or 32 bits.");
    }
    return toFloat32(scales);
  }

  // name -> Float32Array for all weights that the configuration calls for, and for no others.
  function readWeights(buffer, config) {
    const found = readSafetensors(buffer), expected = expectedShapes(config), weights = {};
    const names = Object.keys(found).filter((name) => !(name.endsWith(SCALES) && (found[name.slice(0, -SCALES.length)] || {}).dtype === "I8"));
    const strange = names.filter((name) => !expected[name]);
    const missing = Object.keys(expected).filter((name) => !found[name]);
    if (missing.length || strange.length) {
      throw new Problem(`model.safetensors holds ${names.length} tensors` + (strange.length ? `, such as ${strange[0]},` : "")
        + ` and config.json calls for ${Object.keys(expected).length}`
        + (missing.length ? `, such as ${missing[0]}, which is missing` : "") + `. ${OURS}`);
    }
    for (const name of names) {
      const shape = found[name].shape;
      if (shape.join() !== expected[name].join()) {
        throw new Problem(`${name} has the shape ${shape.join(" × ")}, expected ${expected[name].join(" × ")} by the sizes `
          + "in config.json. Take both files of the same model.");
      }
      weights[name] = found[name].dtype === "I8" ? scaled(found[name], scalesOf(found, name)) : toFloat32(found[name]);
      if (!weights[name].every(Number.isFinite)) {
        throw new Problem(`${name} holds numbers that are not finite: this model's training has failed.`);
      }
    }
    return weights;
  }

  // A model from the text of config.json and the bytes of model.safetensors. Throws a Problem in words.
  function openModel(text, buffer) {
    const config = readConfig(text), tokenizer = live.tokenizerOf(config);
    if (config.n_vocab !== tokenizer.nVocab + 1) {
      throw new Problem(`config.json has n_vocab = ${config.n_vocab} and a tokenizer of ${tokenizer.nVocab} tokens, expected `
        + "one more than these, for the end of a text.");
    }
    return new live.GPT(config, tokenizer, readWeights(buffer, config));
  }

  Object.assign(live, { Problem, OURS, readSafetensors, toFloat32, openModel });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
