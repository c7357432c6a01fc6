// The pure built-in modules of Node for a realm, in the realm's own classes. The host answers questions about strings
// (`pure`), so results are Node's own; its objects never come here.
(function library(pure, deny, isProxy, part) {
  "use strict";

  const bytes = part("buffer")(pure);
  const text = part("text")(pure, bytes);
  const inspection = part("inspection")(pure, isProxy, bytes, text, part("pack")(isProxy, bytes));
  const { assert, inspect, strict, structuredClone, types, util } = inspection;
  const { Buffer, ENCODINGS, encode, fillFrom, hexOf, latin1Of, viewOf, withCode, wrongType } = bytes;
  const { TextDecoder, TextEncoder } = text;
  const bufferOf = (latin1) => fillFrom(new Buffer(latin1.length), latin1);
  const DATA = {
    data: "of type string or an instance of Buffer, TypedArray, or DataView",
    key: "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey",
    buffer: "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer",
    input: "of type string or an instance of Buffer, TypedArray, or DataView",
  };
  const dataOf = (value, name = "data", encoding = "utf8") => {
    if (typeof value === "string") return encode(value, ENCODINGS[String(encoding).toLowerCase()] ?? "utf8");
    if (ArrayBuffer.isView(value) || (name !== "data" && value instanceof ArrayBuffer)) return latin1Of(viewOf(value));
    throw wrongType(name, DATA[name], value);
  };
  const withDefault = (members) => Object.assign(Object.create(null), members, { default: members });

  // ---- crypto: hashing only --------------------------------------------------------------------------------------------

  class Digest {
    #data = "";
    #done = false;
    #finish;
    constructor(finish, data = "") {
      this.#finish = finish;
      this.#data = data;
    }
    update(data, encoding) {
      if (this.#done) throw withCode(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
      this.#data += dataOf(data, "data", encoding ?? "utf8");
      return this;
    }
    digest(encoding) {
      if (this.#done) throw withCode(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
      this.#done = true;
      return encoded(this.#finish(this.#data), encoding);
    }
    copy() {
      if (this.#done) throw withCode(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
      return new this.constructor(this.#finish, this.#data);
    }
  }
  class Hash extends Digest {}
  class Hmac extends Digest {}
  function encoded(latin1, encoding) {
    const name = encoding === "buffer" ? undefined : ENCODINGS[String(encoding).toLowerCase()];
    return name === undefined ? bufferOf(latin1) : name === "hex" ? hexOf(latin1) : pure("decode", latin1, name);
  }

  // An unknown algorithm is named at once; the others are asked about once.
  const known = new Set();
  function hashing(algorithm, options) {
    if (typeof algorithm !== "string") throw wrongType("algorithm", "of type string", algorithm);
    const settings = options?.outputLength === undefined ? "{}" : JSON.stringify({ outputLength: options.outputLength });
    const asked = `${algorithm} ${settings}`;
    if (!known.has(asked)) {
      pure("hash", algorithm, "", settings);
      known.add(asked);
    }
    return (data) => pure("hash", algorithm, data, settings);
  }
  const refusedRandom = (name) => ({ [name]() { return deny("`" + name + "` of node:crypto"); } })[name];
  const crypto = {
    createHash: (algorithm, options) => new Hash(hashing(algorithm, options)),
    createHmac: (algorithm, key) => {
      const secret = dataOf(key, "key");
      pure("hmac", algorithm, secret, "");
      return new Hmac((data) => pure("hmac", algorithm, secret, data));
    },
    hash(algorithm, data, options = "hex") {
      const { outputEncoding = "hex", outputLength } = typeof options === "string" ? { outputEncoding: options } : options;
      if (typeof algorithm === "string" && !known.has(`${algorithm} {}`) && !crypto.getHashes().includes(algorithm)) {
        try {
          hashing(algorithm);
        } catch {
          throw new Error(`Digest method ${algorithm} is not supported`);
        }
      }
      return encoded(hashing(algorithm, { outputLength })(dataOf(data, "input")), outputEncoding);
    },
    getHashes: () => JSON.parse(pure("hashes")),
    timingSafeEqual: (left, right) => {
      const [one, two] = [dataOf(left, "buf1"), dataOf(right, "buf2")];
      if (one.length !== two.length) throw Object.assign(new RangeError("Input buffers must have the same byte length"), { code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH" });
      return one === two;
    },
  };
  for (const name of ["randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID", "getRandomValues", "pseudoRandomBytes", "generateKeySync", "generateKeyPairSync", "generatePrimeSync"]) {
    crypto[name] = refusedRandom(name);
  }

  // ---- path, querystring -----------------------------------------------------------------------------------------------

  function strings(values, name) {
    for (const value of values) if (typeof value !== "string") throw wrongType(name, "of type string", value);
    return values;
  }
  /** What asks for the working folder is refused: it is the machine's. */
  function ofFolder(what, ask) {
    try {
      return ask();
    } catch (error) {
      if (error.code === "WORKING_FOLDER") return deny(`${what} of a path that is relative to the working folder`);
      throw error;
    }
  }
  function pathOf(flavour, sep, delimiter) {
    const path = { sep, delimiter };
    for (const name of ["basename", "dirname", "extname", "isAbsolute", "join", "matchesGlob", "normalize", "parse", "relative", "resolve", "toNamespacedPath"]) {
      path[name] = (...values) => ofFolder(`path.${name}()`, () => JSON.parse(pure("path", flavour, name, JSON.stringify(strings(name === "basename" && values[1] === undefined ? values.slice(0, 1) : values, "path")))));
    }
    path.format = (parts) => JSON.parse(pure("path", flavour, "format", JSON.stringify([plain(parts)])));
    return path;
  }
  const plain = (value) => JSON.parse(JSON.stringify(value));
  const posix = pathOf("posix", "/", ":");
  const win32 = pathOf("win32", "\\", ";");
  for (const path of [posix, win32]) Object.assign(path, { posix, win32 });

  const asText = (value) =>
    typeof value === "string" ? value
      : (typeof value === "number" && isFinite(value)) || typeof value === "bigint" || typeof value === "boolean" ? String(value) : "";
  const querystring = {
    escape: (text) => JSON.parse(pure("querystring", "escape", JSON.stringify([String(text)]))),
    unescape: (text) => JSON.parse(pure("querystring", "unescape", JSON.stringify([String(text)]))),
    parse(text, separator = "&", equals = "=", options = {}) {
      if (options.decodeURIComponent !== undefined) throw withCode(new TypeError("options.decodeURIComponent is not available to benchmark modules"), "ERR_INVALID_ARG_VALUE");
      const settings = options.maxKeys === undefined ? {} : { maxKeys: options.maxKeys };
      return Object.assign(Object.create(null), JSON.parse(pure("querystring", "parse", JSON.stringify([String(text), separator, equals, settings]))));
    },
    stringify(values, separator = "&", equals = "=") {
      if (typeof values !== "object" || values === null) return "";
      const texts = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Array.isArray(value) ? value.map(asText) : asText(value)]));
      return JSON.parse(pure("querystring", "stringify", JSON.stringify([texts, separator, equals])));
    },
  };
  Object.assign(querystring, { decode: querystring.parse, encode: querystring.stringify });

  // ---- url ---------------------------------------------------------------------------------------------------------------

  class URLSearchParams {
    #pairs = [];
    #changed = null;
    constructor(init = "") {
      if (typeof init === "object" && init !== null) {
        if (typeof init[Symbol.iterator] === "function") {
          for (const pair of init) {
            if (typeof pair !== "object" || typeof pair?.[Symbol.iterator] !== "function") throw withCode(new TypeError("Each query pair must be an iterable [name, value] tuple"), "ERR_INVALID_TUPLE");
            const [name, value, ...more] = pair;
            if (value === undefined || more.length) throw withCode(new TypeError("Each query pair must be an iterable [name, value] tuple"), "ERR_INVALID_TUPLE");
            this.append(name, value);
          }
        } else for (const name of Reflect.ownKeys(init)) this.append(name, init[name]);
      } else this.#pairs = JSON.parse(pure("searchParse", String(init)));
    }
    static watch(params, changed) { params.#changed = changed; return params; }
    static replace(params, text) { params.#pairs = JSON.parse(pure("searchParse", text)); }
    #touch() { this.#changed?.(this.toString()); }
    get size() { return this.#pairs.length; }
    append(name, value) { this.#pairs.push([wide(name), wide(value)]); this.#touch(); }
    delete(name, value) {
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
      this.#touch();
    }
    get(name) { return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]); }
    has(name, value) { return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value))); }
    set(name, value) {
      const at = this.#pairs.findIndex((pair) => pair[0] === String(name));
      if (at < 0) return this.append(name, value);
      this.#pairs[at] = [wide(name), wide(value)];
      this.#pairs = this.#pairs.filter((pair, i) => i <= at || pair[0] !== String(name));
      this.#touch();
    }
    sort() { this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#touch(); }
    forEach(callback, receiver) { for (const [name, value] of this.#pairs) callback.call(receiver, value, name, this); }
    *entries() { for (const pair of this.#pairs) yield [...pair]; }
    *keys() { for (const pair of this.#pairs) yield pair[0]; }
    *values() { for (const pair of this.#pairs) yield pair[1]; }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return "URLSearchParams"; }
    toString() { return pure("searchText", JSON.stringify(this.#pairs)); }
    [inspect.custom](depth, options) {
      const pairs = this.#pairs.map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
      return pairs.length ? `URLSearchParams { ${pairs.join(", ")} }` : "URLSearchParams {}";
    }
  }
  const wide = (value) => String(value).toWellFormed();
  const { watch, replace } = URLSearchParams;
  delete URLSearchParams.watch;
  delete URLSearchParams.replace;

  class URL {
    #fields;
    #params = null;
    constructor(input, base) {
      if (arguments.length === 0) throw withCode(new TypeError('The "url" argument must be specified'), "ERR_MISSING_ARGS");
      try {
        this.#fields = JSON.parse(pure("url", String(input), base === undefined ? undefined : String(base)));
      } catch {
        throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(input) });
      }
    }
    static canParse(input, base) { return URL.parse(input, base) !== null; }
    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch {
        return null;
      }
    }
    static set(url, field, value) {
      url.#fields = JSON.parse(pure("urlSet", url.#fields.href, field, String(value)));
      if (url.#params !== null) replace(url.#params, url.#fields.search);
    }
    static field(url, field) { return url.#fields[field]; }
    get searchParams() {
      this.#params ??= watch(new URLSearchParams(this.#fields.search), (text) => {
        this.#fields = JSON.parse(pure("urlSet", this.#fields.href, "search", text));
      });
      return this.#params;
    }
    toString() { return this.#fields.href; }
    toJSON() { return this.#fields.href; }
    [inspect.custom](depth, options) {
      if (depth < 0) return this;
      const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = this.#fields;
      const shown = new (class URL {})();
      Object.assign(shown, { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams: this.searchParams, hash });
      return inspect(shown, options);
    }
    get [Symbol.toStringTag]() { return "URL"; }
  }
  const { set: setField, field: fieldOf } = URL;
  delete URL.set;
  delete URL.field;
  for (const field of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]) {
    Object.defineProperty(URL.prototype, field, {
      enumerable: true,
      configurable: true,
      get() { return fieldOf(this, field); },
      ...(field === "origin" ? {} : { set(value) {
        try {
          setField(this, field, value);
        } catch {
          throw Object.assign(withCode(new TypeError("Invalid URL"), "ERR_INVALID_URL"), { input: String(value) });
        }
      } }),
    });
  }

  const legacy = (name, ...values) => JSON.parse(pure("urlLegacy", name, JSON.stringify(values)));
  const url = {
    URL,
    URLSearchParams,
    domainToASCII: (domain) => pure("ascii", String(domain)),
    domainToUnicode: (domain) => pure("unicode", String(domain)),
    parse(text, query = false, slashes = false) {
      const parsed = legacy("parse", strings([text], "url")[0], query, slashes);
      if (typeof parsed.query === "object" && parsed.query !== null) Object.setPrototypeOf(parsed.query, null);
      return parsed;
    },
    resolve: (from, to) => legacy("resolve", String(from), String(to)),
    format: (value, options) => (value instanceof URL ? pure("urlFormat", value.href, JSON.stringify(options ?? {})) : legacy("format", typeof value === "string" ? value : plain(value))),
    fileURLToPath: (value, options) => legacy("fileURLToPath", String(value), { windows: options?.windows === true }),
    pathToFileURL: (path, options) => new URL(ofFolder("url.pathToFileURL()", () => pure("fileUrl", String(path), options?.windows === true))),
    urlToHttpOptions: ({ protocol, hostname, hash, search, pathname, href, port, username, password }) => ({
      __proto__: null, protocol, hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname, hash, search, pathname,
      path: `${pathname || ""}${search || ""}`, href,
      ...(port === "" ? {} : { port: Number(port) }),
      ...(username || password ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
    }),
  };

  // ---- zlib, synchronous -------------------------------------------------------------------------------------------------------

  function zlib() {
    const module = {
      constants: Object.freeze(JSON.parse(pure("zlibConstants"))),
      crc32: (data, start = 0) => Number(pure("crc32", dataOf(data), start)),
    };
    for (const name of ["deflateSync", "inflateSync", "gzipSync", "gunzipSync", "deflateRawSync", "inflateRawSync", "unzipSync", "brotliCompressSync", "brotliDecompressSync", "zstdCompressSync", "zstdDecompressSync"]) {
      module[name] = (data, options = {}) => {
        const { dictionary, ...rest } = options;
        return bufferOf(pure("zlib", name, dataOf(data, "buffer"), JSON.stringify(dictionary === undefined ? rest : { ...rest, dictionary: dataOf(dictionary) })));
      };
    }
    return module;
  }

  // Made when asked for: most modules need one of them, and none needs all.
  const makers = {
    __proto__: null,
    assert: () => withDefaultFunction(assert),
    "assert/strict": () => withDefaultFunction(strict),
    buffer: () => withDefault({ ...text.module }),
    crypto: () => withDefault(crypto),
    path: () => withDefault(posix),
    "path/posix": () => withDefault(posix),
    "path/win32": () => withDefault(win32),
    querystring: () => withDefault(querystring),
    string_decoder: () => withDefault({ StringDecoder: text.StringDecoder }),
    url: () => withDefault(url),
    util: () => withDefault(util),
    "util/types": () => withDefault(types),
    zlib: () => withDefault(zlib()),
  };
  const withDefaultFunction = (main) => Object.assign(Object.create(null), { ...main }, { default: main });

  return {
    __proto__: null,
    globals: { __proto__: null, Buffer, TextDecoder, TextEncoder, URL, URLSearchParams, atob: text.atob, btoa: text.btoa, structuredClone },
    /** Everything that modules share. */
    all: () => Object.values(makers).map((make) => make()),
    module(name) {
      // The host's side is loaded now, while there is stack to do it.
      pure("ready", name);
      return makers[name]();
    },
  };
})
