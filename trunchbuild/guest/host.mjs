// Pure functions of primitives that the realm's shims ask for. Each answer is "=" and a text, or "!" and name, code and message of an error.
import { unpack } from "./unpack.mjs";

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

  path(flavour, name, values) {
    const path = load("path")[flavour];
    const given = JSON.parse(values);
    // Which way leads from one to the other does not depend on the folder that both are relative to.
    const relative = name === "relative" && path.isAbsolute(given[0]) === path.isAbsolute(given[1]);
    return placeless(() => JSON.stringify(path[name](...given)), relative);
  },
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
  fileUrl: (path, windows) => placeless(() => load("url").pathToFileURL(path, { windows }).href),
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
  assert: (name, packed) => failureOf(() => load("assert")[name](...unpack(packed))),
  /** The message that an AssertionError writes itself. */
  assertionMessage(packed) {
    const [options] = unpack(packed);
    return new (load("assert").AssertionError)(options).message;
  },
  /** Whether a thrown value is what `assert.throws` was told to expect (no function): as `assert`. */
  thrown(packed) {
    const [error, expected, ...message] = unpack(packed);
    return failureOf(() => load("assert").throws(() => { throw error; }, expected, ...message));
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

/** The failure of an assertion as JSON, or "". */
function failureOf(work) {
  try {
    work();
  } catch (error) {
    if (!(error instanceof load("assert").AssertionError)) throw error;
    return JSON.stringify({ message: error.message, generatedMessage: error.generatedMessage, operator: error.operator });
  }
  return "";
}

/** Do what must not ask for the working folder; a relative way may. */
function placeless(work, relative = false) {
  const { cwd } = process;
  process.cwd = () => {
    // So deep that no way leads above the root.
    if (relative) return "/-".repeat(200);
    throw Object.assign(new Error("the working folder"), { code: "WORKING_FOLDER" });
  };
  try {
    return work();
  } finally {
    process.cwd = cwd;
  }
}

function fields(url) {
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url;
  return { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash };
}

/** The answer to one question of the realm. Never throws for a bad question; the stack's edge is the caller's affair. */
export function answer(operation, a, b, c) {
  if (!Object.hasOwn(operations, operation)) return "!TypeError\n\nunknown operation";
  for (const value of [a, b, c]) if (typeof value === "object" || typeof value === "function") return "!TypeError\n\nnot a primitive";
  try {
    return `=${operations[operation](a, b, c)}`;
  } catch (error) {
    return `!${error.name}\n${`${error}`.startsWith(`${error.name} [`) ? " " : ""}${error.code ?? ""}\n${error.message}`;
  }
}
