// `node:util`, `node:assert` and structuredClone for a realm. What Node says of a value (how it is shown, whether two are
// equal, why an assertion fails) is asked of the host, which gets the values packed.
(function inspectionLibrary(pure, isProxy, bytes, text, pack) {
  "use strict";

  const { withCode, wrongType } = bytes;
  const { TextDecoder, TextEncoder, exception } = text;

  // ---- util, assert ----------------------------------------------------------------------------------------------------------

  const isDeepStrictEqual = (left, right) => pure("equal", pack([left, right])) === "1";
  const tag = (name) => (value) => typeof value === "object" && value !== null && !isProxy(value) && Object.prototype.toString.call(value) === `[object ${name}]`;
  const brand = (check) => (value) => {
    try {
      check(value);
      return true;
    } catch {
      return false;
    }
  };
  const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
  const types = {
    isProxy: (value) => isProxy(value),
    isDate: brand((value) => Date.prototype.getTime.call(value)),
    isRegExp: (value) => value !== RegExp.prototype && brand((inner) => getter(RegExp.prototype, "source").call(inner))(value),
    isMap: brand((value) => getter(Map.prototype, "size").call(value)),
    isSet: brand((value) => getter(Set.prototype, "size").call(value)),
    isWeakMap: brand((value) => WeakMap.prototype.has.call(value, {})),
    isWeakSet: brand((value) => WeakSet.prototype.has.call(value, {})),
    isArrayBuffer: brand((value) => getter(ArrayBuffer.prototype, "byteLength").call(value)),
    isPromise: (value) => typeof value === "object" && value !== null && value instanceof Promise,
    isNativeError: (value) => typeof value === "object" && value !== null && Error.isError(value),
    isDataView: (value) => ArrayBuffer.isView(value) && tag("DataView")(value),
    isTypedArray: (value) => ArrayBuffer.isView(value) && !types.isDataView(value),
    isArrayBufferView: (value) => ArrayBuffer.isView(value),
    isAnyArrayBuffer: (value) => types.isArrayBuffer(value),
    isSharedArrayBuffer: () => false,
    isGeneratorFunction: (value) => typeof value === "function" && /GeneratorFunction\]$/.test(Object.prototype.toString.call(value)),
    isAsyncFunction: (value) => typeof value === "function" && /Async(Generator)?Function\]$/.test(Object.prototype.toString.call(value)),
    isGeneratorObject: tag("Generator"),
    isMapIterator: tag("Map Iterator"),
    isSetIterator: tag("Set Iterator"),
    isArgumentsObject: tag("Arguments"),
    isModuleNamespaceObject: tag("Module"),
    isNumberObject: brand((value) => typeof value === "object" && Number.prototype.valueOf.call(value)),
    isStringObject: (value) => typeof value === "object" && brand((inner) => String.prototype.valueOf.call(inner))(value),
    isBooleanObject: (value) => typeof value === "object" && brand((inner) => Boolean.prototype.valueOf.call(inner))(value),
    isSymbolObject: (value) => typeof value === "object" && brand((inner) => Symbol.prototype.valueOf.call(inner))(value),
    isBigIntObject: (value) => typeof value === "object" && brand((inner) => BigInt.prototype.valueOf.call(inner))(value),
  };
  types.isNumberObject = (value) => typeof value === "object" && brand((inner) => Number.prototype.valueOf.call(inner))(value);
  for (const name of ["isExternal", "isKeyObject", "isCryptoKey", "isEventTarget"]) types[name] = () => false;
  types.isBoxedPrimitive = (value) => ["Number", "String", "Boolean", "Symbol", "BigInt"].some((name) => types[`is${name}Object`](value));
  for (const name of ["Uint8", "Uint8Clamped", "Uint16", "Uint32", "Int8", "Int16", "Int32", "Float32", "Float64", "BigInt64", "BigUint64"]) {
    const read = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
    types[`is${name}Array`] = (value) => read.call(value) === `${name}Array`;
  }

  const custom = Symbol.for("nodejs.util.promisify.custom");
  function promisify(original) {
    if (typeof original !== "function") throw wrongType("original", "of type function", original);
    if (original[custom]) return original[custom];
    return function (...values) {
      return new Promise((resolve, reject) => original.call(this, ...values, (error, value) => (error ? reject(error) : resolve(value))));
    };
  }
  promisify.custom = custom;
  function inspect(value, options, ...older) {
    const settings = typeof options === "boolean" ? { showHidden: options, depth: older[0], colors: older[1] } : options ?? {};
    const { stylize, ...plain } = settings;
    return pure("inspect", pack([value, plain], { getters: Boolean(plain.getters), shown: plain, inspect }));
  }
  const builtIn = new Set(Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z][A-Za-z0-9]+$/.test(name)));
  /** Whether `%s` shows an object by its own text, as Node decides it. */
  function saysItself(value) {
    if (isProxy(value)) return false;
    const primitive = value[Symbol.toPrimitive];
    if (typeof primitive === "function" && primitive !== Date.prototype[Symbol.toPrimitive]) return true;
    if (typeof value.toString !== "function") return false;
    if (Object.hasOwn(value, "toString")) return true;
    let up = value;
    do up = Object.getPrototypeOf(up); while (!Object.hasOwn(up, "toString"));
    const constructor = Object.getOwnPropertyDescriptor(up, "constructor")?.value;
    return !(typeof constructor === "function" && builtIn.has(constructor.name));
  }
  /** The arguments of `format`, with what only the realm can ask of its objects asked. */
  function prepared(values) {
    const [first, ...rest] = values;
    if (typeof first !== "string" || rest.length === 0) return values;
    let at = 0;
    const pattern = first.replace(/%[sdifjoOc%]/g, (found) => {
      if (found === "%%" || at >= rest.length) return found;
      const value = rest[at];
      const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
      if (found === "%j") rest[at] = json(value);
      else if (found === "%s" && isObject && (typeof value === "function" || saysItself(value))) rest[at] = String(value);
      else if (isObject && found === "%d") rest[at] = Number(value);
      else if (isObject && found === "%i") rest[at] = parseInt(value);
      else if (isObject && found === "%f") rest[at] = parseFloat(value);
      at++;
      return found === "%j" ? "%s" : found;
    });
    return [pattern, ...rest];
  }
  function json(value) {
    try {
      return JSON.stringify(value);
    } catch (error) {
      if (error.name === "TypeError" && /circular structure/.test(error.message)) return "[Circular]";
      throw error;
    }
  }
  inspect.custom = Symbol.for("nodejs.util.inspect.custom");
  const util = {
    TextDecoder,
    TextEncoder,
    callbackify: (original) => function (...values) {
      const callback = values.pop();
      original.apply(this, values).then((value) => queueMicrotask(() => callback(null, value)), (error) => queueMicrotask(() => callback(error)));
    },
    deprecate: (original) => original,
    debuglog: () => Object.assign(() => {}, { enabled: false }),
    format: (...values) => pure("format", pack(prepared(values), { getters: false, shown: { showHidden: /%o/.test(values[0]) }, inspect })),
    inherits(constructor, parent) {
      Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
      Object.setPrototypeOf(constructor.prototype, parent.prototype);
    },
    inspect,
    isArray: Array.isArray,
    isDeepStrictEqual,
    promisify,
    stripVTControlCharacters(text) {
      if (typeof text !== "string") throw wrongType("str", "of type string", text);
      return pure("stripControl", text);
    },
    toUSVString: (value) => String(value).toWellFormed(),
    types,
  };

  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) {
      super(message ?? pure("assertionMessage", pack([{ actual, expected, operator }])));
      Object.defineProperty(this, "name", { value: "AssertionError", writable: true, configurable: true });
      Object.assign(this, { generatedMessage: message === undefined, code: "ERR_ASSERTION", actual, expected, operator });
    }
    toString() { return `${this.name} [${this.code}]: ${this.message}`; }
  }
  function failWith(message, details) {
    if (message instanceof Error) throw message;
    const error = new AssertionError({ ...details, message: message ?? details.message });
    error.generatedMessage = message === undefined;
    throw error;
  }
  function assertion(name) {
    return { [name](actual, expected, message) {
      const words = typeof message === "string" ? [message] : [];
      const failure = pure("assert", name, pack([actual, expected, ...words]));
      if (failure === "") return;
      const details = { ...JSON.parse(failure), actual, expected };
      failWith(words.length ? details.message : message, details);
    } }[name];
  }
  /** Whether a thrown value is the expected one; `operator` is `throws` or `rejects`. */
  function matches(error, expected, message, operator) {
    const fail = (words, more = {}) => failWith(message, { message: words, actual: error, expected, operator, ...more });
    if (typeof expected === "function") {
      if (expected.prototype !== undefined && error instanceof expected) return;
      if (Object.prototype.isPrototypeOf.call(Error, expected)) {
        const got = Error.isError(error) ? error.name : inspect(error, { depth: -1 });
        fail(`The error is expected to be an instance of "${expected.name}". Received "${got}"${error?.message ? `\n\nError message:\n\n${error.message}` : ""}`);
      }
      const said = expected.call({}, error);
      if (said !== true) fail(`The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". Received ${inspect(said)}${Error.isError(error) ? `\n\nCaught error:\n\n${error}` : ""}`);
    } else if (typeof expected === "object" && expected !== null) {
      const failure = pure("thrown", pack([error, expected, ...(typeof message === "string" ? [message] : [])]));
      if (failure !== "") fail(JSON.parse(failure).message);
    } else if (expected !== undefined) throw wrongType("error", "of type function or an instance of Error, RegExp, or Object", expected);
  }
  function missing(kind, expected, message, operator) {
    const words = `Missing expected ${kind}${expected?.name ? ` (${expected.name})` : ""}${message ? `: ${message}` : "."}`;
    failWith(message instanceof Error ? message : undefined, { message: words, expected, operator });
  }
  function unwanted(kind, error, message, operator) {
    failWith(undefined, { message: `Got unwanted ${kind}${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`, actual: error, operator });
  }
  function runnable(run) {
    if (typeof run !== "function") throw wrongType("fn", "of type function", run);
    return run;
  }
  function assert(value, ...message) {
    if (!value) failWith(message[0], { message: arguments.length === 0 ? "No value argument passed to `assert.ok()`" : "The expression evaluated to a falsy value", actual: value, expected: true, operator: "==" });
  }
  Object.assign(assert, {
    AssertionError,
    ok: (...values) => assert(...values),
    fail(message = "Failed") { failWith(message instanceof Error ? message : undefined, { message, operator: "fail" }); },
    ifError(value) { if (value !== null && value !== undefined) failWith(undefined, { message: `ifError got unwanted exception: ${value?.message ?? inspect(value)}`, actual: value, expected: null, operator: "ifError" }); },
    throws(run, expected, message) {
      if (typeof expected === "string") [message, expected] = [expected, undefined];
      runnable(run);
      try {
        run();
      } catch (error) {
        return matches(error, expected, message, "throws");
      }
      missing("exception", expected, message, "throws");
    },
    doesNotThrow(run, expected, message) {
      runnable(run);
      try {
        run();
      } catch (error) {
        unwanted("exception", error, typeof expected === "string" ? expected : message, "doesNotThrow");
      }
    },
    async rejects(promise, expected, message) {
      if (typeof expected === "string") [message, expected] = [expected, undefined];
      try {
        await (typeof promise === "function" ? promise() : promise);
      } catch (error) {
        return matches(error, expected, message, "rejects");
      }
      missing("rejection", expected, message, "rejects");
    },
    async doesNotReject(promise, message) {
      try {
        await (typeof promise === "function" ? promise() : promise);
      } catch (error) {
        unwanted("rejection", error, message, "doesNotReject");
      }
    },
  });
  for (const name of ["equal", "notEqual", "strictEqual", "notStrictEqual", "deepEqual", "notDeepEqual", "deepStrictEqual", "notDeepStrictEqual", "partialDeepStrictEqual", "match", "doesNotMatch"]) {
    assert[name] = assertion(name);
  }
  const strict = Object.assign((...values) => assert(...values), assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
  });
  strict.strict = strict;
  assert.strict = strict;

  // ---- structuredClone -----------------------------------------------------------------------------------------------------------

  function structuredClone(root, options) {
    const copies = new Map();
    const moved = [...(options?.transfer ?? [])];
    const refuse = (value) => { throw exception("DataCloneError", `${typeof value === "symbol" ? String(value) : typeof value === "function" ? Function.prototype.toString.call(value) : "#<Object>"} could not be cloned.`); };
    const clone = (value) => {
      if (typeof value === "symbol" || typeof value === "function") refuse(value);
      if (typeof value !== "object" || value === null) return value;
      if (copies.has(value)) return copies.get(value);
      if (isProxy(value)) refuse(value);
      const keep = (copy) => (copies.set(value, copy), copy);
      if (types.isBoxedPrimitive(value)) return types.isSymbolObject(value) ? refuse(value) : keep(Object(value.valueOf()));
      if (types.isDate(value)) return keep(new Date(value.getTime()));
      if (types.isRegExp(value)) return keep(new RegExp(value.source, value.flags));
      if (types.isArrayBuffer(value)) return keep(value.slice(0));
      if (ArrayBuffer.isView(value)) {
        const Kind = globalThis[Object.prototype.toString.call(value).slice(8, -1)];
        return keep(new Kind(clone(value.buffer), value.byteOffset, value.length ?? value.byteLength));
      }
      if (types.isMap(value)) {
        const copy = keep(new Map());
        for (const [key, inner] of [...value]) copy.set(clone(key), clone(inner));
        return copy;
      }
      if (types.isSet(value)) {
        const copy = keep(new Set());
        for (const inner of [...value]) copy.add(clone(inner));
        return copy;
      }
      if (types.isNativeError(value)) {
        const Kind = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[value.name] ?? Error;
        const copy = keep(new Kind(value.message));
        if (Object.hasOwn(value, "cause")) Object.defineProperty(copy, "cause", { value: clone(value.cause), writable: true, configurable: true });
        return copy;
      }
      if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value)) refuse(value);
      const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
      for (const key of Object.keys(value)) Object.defineProperty(copy, key, { value: clone(value[key]), writable: true, enumerable: true, configurable: true });
      return copy;
    };
    for (const [at, memory] of moved.entries()) {
      if (!types.isArrayBuffer(memory)) throw withCode(new TypeError("Found invalid object in transferList"), "ERR_INVALID_TRANSFER_OBJECT");
      if (memory.detached || moved.indexOf(memory) !== at) throw exception("DataCloneError", memory.detached ? "An ArrayBuffer is detached and could not be cloned." : "ArrayBuffer occurs in the transfer list more than once");
    }
    const copy = clone(root);
    for (const memory of moved) memory.transfer();
    return copy;
  }

  return { __proto__: null, assert, inspect, strict, structuredClone, types, util };
})
