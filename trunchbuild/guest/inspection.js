// `node:util`, `node:assert` and structuredClone for a realm. What Node says of a value (how it is shown, whether two are
// equal, why an assertion fails) is asked of the host: the values are packed as JSON, and made again there.
(function inspectionLibrary(pure, isProxy, bytes) {
  "use strict";

  const { Buffer, TextDecoder, TextEncoder, exception, latin1Of, wrongType } = bytes;

  // ---- packed values: what the host needs to format or compare them as Node does -------------------------------------------

  const identities = new WeakMap();
  let identityCount = 0;
  function identityOf(value) {
    if (!identities.has(value)) identities.set(value, ++identityCount);
    return identities.get(value);
  }
  const symbolIdentities = new Map();
  const symbolIdentity = (symbol) => symbolIdentities.get(symbol) ?? symbolIdentities.set(symbol, symbolIdentities.size).get(symbol);

  function pack(...roots) {
    const table = [];
    const known = new Map();
    const value = (item) => {
      switch (typeof item) {
        case "undefined": return ["u"];
        case "bigint": return ["b", String(item)];
        case "symbol": return ["s", symbolIdentity(item), item.description ?? ""];
        case "number": return Number.isFinite(item) && !Object.is(item, -0) ? item : ["n", Object.is(item, -0) ? "-0" : String(item)];
        case "object": if (item === null) return null; // falls through
        case "function": return ["o", object(item)];
        default: return item;
      }
    };
    const object = (item) => {
      if (known.has(item)) return known.get(item);
      const index = table.length;
      known.set(item, index);
      table.push(null);
      table[index] = isProxy(item) ? { kind: "instance", id: 0, name: "Proxy" } : entry(item);
      return index;
    };
    const own = (item, skip) => {
      const found = [];
      for (const key of Reflect.ownKeys(item)) {
        const property = Object.getOwnPropertyDescriptor(item, key);
        if (property?.enumerable && !skip(key)) found.push([typeof key === "symbol" ? value(key) : key, value("value" in property ? property.value : undefined)]);
      }
      return found;
    };
    const entry = (item) => {
      const prototype = Object.getPrototypeOf(item);
      const rest = { own: own(item, () => false) };
      if (typeof item === "function") return { kind: "function", isClass: /^class\b/.test(Function.prototype.toString.call(item)), id: identityOf(item), name: String(item.name), ...rest };
      if (Array.isArray(item)) {
        const index = (key) => typeof key === "string" && String(key >>> 0) === key;
        return { kind: "array", length: item.length, items: Object.keys(item).filter(index).map((key) => [Number(key), value(item[key])]), own: own(item, index) };
      }
      if (item instanceof Map) return { kind: "map", items: [...item].map(([key, inner]) => [value(key), value(inner)]), ...rest };
      if (item instanceof Set) return { kind: "set", items: [...item].map(value), ...rest };
      if (item instanceof Date) return { kind: "date", value: item.getTime(), ...rest };
      if (item instanceof RegExp) return { kind: "regexp", source: item.source, flags: item.flags, ...rest };
      if (item instanceof Error) return { kind: "error", name: String(item.name), message: String(item.message), ...rest };
      if (item instanceof Buffer) return { kind: "bytes", name: "Buffer", latin1: latin1Of(item) };
      if (item instanceof Uint8Array) return { kind: "bytes", name: "Uint8Array", latin1: latin1Of(item) };
      if (item instanceof Number || item instanceof String || item instanceof Boolean) return { kind: "boxed", value: value(item.valueOf()) };
      if (prototype === null) return { kind: "null", ...rest };
      if (prototype === Object.prototype) return { kind: "object", ...rest };
      return { kind: "instance", id: identityOf(prototype), name: String(prototype.constructor?.name ?? "Object"), ...rest };
    };
    return JSON.stringify({ values: roots.map(value), table });
  }

  // ---- util, assert ----------------------------------------------------------------------------------------------------------

  const isDeepStrictEqual = (left, right) => pure("equal", pack(left, right)) === "1";
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
    isRegExp: brand((value) => getter(RegExp.prototype, "source").call(value) && value !== RegExp.prototype),
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
    return pure("inspect", pack(value, settings));
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
    format: (...values) => pure("format", pack(...values)),
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
      super(message);
      this.name = "AssertionError";
      Object.assign(this, { generatedMessage: false, code: "ERR_ASSERTION", actual, expected, operator });
    }
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
      const failure = pure("assert", name, pack(actual, expected, ...words));
      if (failure === "") return;
      const details = { ...JSON.parse(failure), actual, expected };
      failWith(words.length ? details.message : message, details);
    } }[name];
  }
  function matches(error, expected, message) {
    if (typeof expected === "function") {
      if (expected.prototype !== undefined && error instanceof expected) return;
      if (Object.prototype.isPrototypeOf.call(Error, expected)) throw error;
      if (expected.call({}, error) === true) return;
      failWith(message, { message: "The validation function is expected to return \"true\".", actual: error, expected, operator: "throws" });
    } else if (expected instanceof RegExp) {
      if (!expected.test(String(error))) failWith(message, { message: `The input did not match the regular expression ${expected}. Input:\n\n'${String(error)}'\n`, actual: error, expected, operator: "throws" });
    } else if (typeof expected === "object" && expected !== null) {
      const keys = expected instanceof Error ? ["name", "message", ...Object.keys(expected)] : Object.keys(expected);
      for (const key of keys) {
        const fits = expected[key] instanceof RegExp && typeof error?.[key] === "string" ? expected[key].test(error[key]) : isDeepStrictEqual(error?.[key], expected[key]);
        if (!fits) failWith(message, { message: `The error's \`${key}\` is not the expected one`, actual: error, expected, operator: "throws" });
      }
    }
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
      try {
        run();
      } catch (error) {
        return matches(error, expected, message);
      }
      failWith(message, { message: "Missing expected exception.", expected, operator: "throws" });
    },
    doesNotThrow(run, expected, message) {
      try {
        run();
      } catch (error) {
        failWith(typeof expected === "string" ? expected : message, { message: `Got unwanted exception.\nActual message: "${error?.message}"`, actual: error, operator: "doesNotThrow" });
      }
    },
    async rejects(promise, expected, message) {
      try {
        await (typeof promise === "function" ? promise() : promise);
      } catch (error) {
        return matches(error, expected, message);
      }
      failWith(message, { message: "Missing expected rejection.", expected, operator: "rejects" });
    },
    async doesNotReject(promise, message) {
      try {
        await (typeof promise === "function" ? promise() : promise);
      } catch (error) {
        failWith(typeof message === "string" ? message : undefined, { message: `Got unwanted rejection.\nActual message: "${error?.message}"`, actual: error, operator: "doesNotReject" });
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

  function structuredClone(root) {
    const copies = new Map();
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
    return clone(root);
  }

  return { __proto__: null, assert, strict, structuredClone, types, util };
})
