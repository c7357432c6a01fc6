// Pure functions of primitives that the realm's shims ask for. Each answer is "=" and a text, or "!" and name, code and message of an error.
const load = (name) => process.getBuiltinModule(`node:${name}`);
const bytes = (latin1) => Buffer.from(latin1, "latin1");

let consoleLeft = 16 << 10;

const operations = {
  /** Load what the operations of a built-in module need. */
  ready(name) {
    load(name);
    return "";
  },
  /** Text -> its bytes in an encoding, as latin1. */
  encode: (text, encoding) => Buffer.from(text, encoding).toString("latin1"),
  /** Bytes (latin1) -> text of an encoding. */
  decode: (latin1, encoding) => bytes(latin1).toString(encoding),
  byteLength: (text, encoding) => String(Buffer.byteLength(text, encoding)),
  transcode: (latin1, from, to) => load("buffer").transcode(bytes(latin1), from, to).toString("latin1"),
  atob: (text) => atob(text),
  btoa: (text) => btoa(text),
  textDecoder: (label, fatal, ignoreBOM) => new TextDecoder(label, { fatal, ignoreBOM }).encoding,
  textDecode: (latin1, label, flags) =>
    new TextDecoder(label, { fatal: flags.includes("f"), ignoreBOM: flags.includes("b") }).decode(bytes(latin1)),

  hash(algorithm, latin1, options) {
    return load("crypto").createHash(algorithm, JSON.parse(options)).update(bytes(latin1)).digest("latin1");
  },
  hmac: (algorithm, key, latin1) => load("crypto").createHmac(algorithm, bytes(key)).update(bytes(latin1)).digest("latin1"),
  hashes: () => JSON.stringify(load("crypto").getHashes()),

  path: (flavour, name, values) => JSON.stringify(load("path")[flavour][name](...JSON.parse(values))),
  querystring: (name, values) => JSON.stringify(load("querystring")[name](...JSON.parse(values))),

  url(input, base) {
    return JSON.stringify(fields(base === undefined ? new URL(input) : new URL(input, base)));
  },
  urlSet(href, field, value) {
    const url = new URL(href);
    url[field] = value;
    return JSON.stringify(fields(url));
  },
  searchParse: (text) => JSON.stringify([...new URLSearchParams(text)]),
  searchText: (pairs) => new URLSearchParams(JSON.parse(pairs)).toString(),
  urlFormat: (href, options) => load("url").format(new URL(href), JSON.parse(options)),
  fileUrl: (path) => load("url").pathToFileURL(path).href,
  urlLegacy: (name, values) => JSON.stringify(load("url")[name](...JSON.parse(values))),

  zlib(name, latin1, options) {
    const { dictionary, ...rest } = JSON.parse(options);
    const settings = { maxOutputLength: 256 << 20, ...rest, ...(dictionary === undefined ? {} : { dictionary: bytes(dictionary) }) };
    return load("zlib")[name](bytes(latin1), settings).toString("latin1");
  },
  crc32: (latin1, start) => String(load("zlib").crc32(bytes(latin1), start)),
  zlibConstants: () => JSON.stringify(load("zlib").constants),

  format: (packed) => load("util").format(...unpack(packed)),
  inspect(packed) {
    const [value, options] = unpack(packed);
    return load("util").inspect(value, options);
  },
  equal(packed) {
    const [left, right] = unpack(packed);
    return load("util").isDeepStrictEqual(left, right) ? "1" : "";
  },
  /** Run one assertion; its failure as JSON, or "" where it holds. */
  assert(name, packed) {
    const assert = load("assert");
    try {
      assert[name](...unpack(packed));
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      return JSON.stringify({ message: error.message, generatedMessage: error.generatedMessage, operator: error.operator });
    }
    return "";
  },
  ascii: (text) => load("url").domainToASCII(text),
  unicode: (text) => load("url").domainToUnicode(text),
  stripControl: (text) => load("util").stripVTControlCharacters(text),

  console(text) {
    // Not `process.stderr`: opening it would change the pipe.
    if (consoleLeft > 0) load("fs").writeSync(2, `${text.slice(0, consoleLeft)}\n`);
    consoleLeft -= text.length + 1;
    return "";
  },
};

function fields(url) {
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url;
  return { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash };
}

/** Values packed by the realm (`pack` of builtins.js), made again from the host's own classes. */
function unpack(text) {
  const { values, table } = JSON.parse(text);
  const made = [];
  const symbols = new Map();
  const prototypes = new Map();
  const functions = new Map();
  const prototype = (id, name) => {
    if (!prototypes.has(id)) prototypes.set(id, { [name]: class {} }[name].prototype);
    return prototypes.get(id);
  };
  const value = (packed) => {
    if (!Array.isArray(packed)) return packed;
    const [tag, first, second] = packed;
    switch (tag) {
      case "u": return undefined;
      case "n": return first === "-0" ? -0 : Number(first);
      case "b": return BigInt(first);
      case "s":
        if (!symbols.has(first)) symbols.set(first, Symbol(second));
        return symbols.get(first);
      default: return object(first);
    }
  };
  const object = (index) => {
    if (index in made) return made[index];
    const entry = table[index];
    const result = (made[index] = blank(entry));
    if (entry.kind === "map") for (const [key, inner] of entry.items) result.set(value(key), value(inner));
    else if (entry.kind === "set") for (const inner of entry.items) result.add(value(inner));
    else if (entry.kind === "array") for (const [at, inner] of entry.items) result[at] = value(inner);
    for (const [key, inner] of entry.own ?? []) {
      Object.defineProperty(result, Array.isArray(key) ? value(key) : key, { value: value(inner), writable: true, enumerable: true, configurable: true });
    }
    return result;
  };
  const blank = (entry) => {
    switch (entry.kind) {
      case "array": return new Array(entry.length);
      case "map": return new Map();
      case "set": return new Set();
      case "date": return new Date(entry.value === null ? NaN : entry.value);
      case "regexp": return new RegExp(entry.source, entry.flags);
      case "bytes": return entry.name === "Buffer" ? bytes(entry.latin1) : new Uint8Array(bytes(entry.latin1));
      case "error": {
        const error = new Error(entry.message);
        error.name = entry.name;
        error.stack = `${entry.name}: ${entry.message}`;
        return error;
      }
      case "function":
        if (!functions.has(entry.id)) functions.set(entry.id, (entry.isClass ? { [entry.name]: class {} } : { [entry.name]: function () {} })[entry.name]);
        return functions.get(entry.id);
      case "boxed": return Object(value(entry.value));
      case "null": return Object.create(null);
      case "instance": return Object.create(prototype(entry.id, entry.name));
      default: return {};
    }
  };
  return values.map(value);
}

/** The answer to one question of the realm. Never throws for a bad question; the stack's edge is the caller's affair. */
export function answer(operation, a, b, c) {
  if (!Object.hasOwn(operations, operation)) return "!TypeError\n\nunknown operation";
  for (const value of [a, b, c]) if (typeof value === "object" || typeof value === "function") return "!TypeError\n\nnot a primitive";
  try {
    return `=${operations[operation](a, b, c)}`;
  } catch (error) {
    return `!${error.name}\n${error.code ?? ""}\n${error.message}`;
  }
}
