// Packs values of a realm as JSON, so that the host can make them again from its own classes (`unpack.mjs`) and say of them
// what Node says: how they are shown, whether two are equal, why an assertion fails.
(function packing(isProxy, bytes) {
  "use strict";

  const { Buffer, latin1Of, viewOf } = bytes;
  const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const custom = Symbol.for("nodejs.util.inspect.custom");
  const toStringOf = (value) => Object.prototype.toString.call(value);
  const textOf = (fn) => Function.prototype.toString.call(fn);
  const getter = (prototype, key) => getOwnPropertyDescriptor(prototype, key).get;
  const typedName = getter(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

  const identities = new WeakMap();
  let identityCount = 0;
  function identityOf(value) {
    if (!identities.has(value)) identities.set(value, ++identityCount);
    return identities.get(value);
  }
  const symbolIdentities = new Map();
  const symbolIdentity = (symbol) => symbolIdentities.get(symbol) ?? symbolIdentities.set(symbol, symbolIdentities.size).get(symbol);

  /** The name of the nearest constructor, as Node's inspect finds it; null where there is none. */
  function constructorName(item) {
    for (let up = item; up !== null; up = getPrototypeOf(up)) {
      const found = getOwnPropertyDescriptor(up, "constructor");
      if (typeof found?.value === "function" && found.value.name !== "" && item instanceof found.value) return String(found.value.name);
    }
    return null;
  }

  const passes = (check) => (value) => {
    try {
      check.call(value);
      return true;
    } catch {
      return false;
    }
  };
  const isMap = passes(getter(Map.prototype, "size"));
  const isSet = passes(getter(Set.prototype, "size"));
  const isDate = passes(Date.prototype.getTime);
  const isMemory = passes(getter(ArrayBuffer.prototype, "byteLength"));
  const isWeakMap = (value) => passes(function () { WeakMap.prototype.has.call(this, {}); })(value);
  const isWeakSet = (value) => passes(function () { WeakSet.prototype.has.call(this, {}); })(value);
  const isRegExp = (value) => value !== RegExp.prototype && passes(getter(RegExp.prototype, "source"))(value);
  const BOXES = ["Number", "String", "Boolean", "BigInt", "Symbol"];
  const boxOf = (value) => BOXES.find((name) => passes(globalThis[name].prototype.valueOf)(value));
  const ERRORS = ["EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError", "AggregateError", "SuppressedError"];
  const isIndex = (key) => typeof key === "string" && String(key >>> 0) === key;

  /**
   * The JSON of some values.
   * @param getters whether accessors count by what they give, as in comparisons
   * @param shown options of inspect, where values are packed to be shown
   */
  return function pack(roots, { getters = true, shown, inspect } = {}) {
    const table = [];
    const known = new Map();
    let level = 0;

    function value(item) {
      switch (typeof item) {
        case "undefined": return ["u"];
        case "bigint": return ["b", String(item)];
        case "symbol": return ["s", symbolIdentity(item), item.description ?? ""];
        case "number": return Number.isFinite(item) && !Object.is(item, -0) ? item : ["n", Object.is(item, -0) ? "-0" : String(item)];
        case "object": if (item === null) return null; // falls through
        case "function": return ["o", object(item)];
        default: return item;
      }
    }
    function object(item) {
      if (known.has(item)) return known.get(item);
      const index = table.length;
      known.set(item, index);
      table.push(null);
      table[index] = isProxy(item) ? { kind: "instance", proto: { id: 0, name: "Proxy" }, own: [] } : own(item);
      return index;
    }
    /** An object that may say itself how it is shown. */
    function own(item) {
      const say = shown !== undefined && shown.customInspect !== false ? item[custom] : undefined;
      if (typeof say !== "function" || say === inspect || item.constructor?.prototype === item) return entry(item);
      const depth = shown.depth === null ? Infinity : shown.depth ?? 2;
      const said = say.call(item, depth - level, { ...shown, depth: depth - level, stylize: (text) => String(text) }, inspect);
      if (said === item) return entry(item);
      if (typeof said !== "object" || said === null) return { kind: "said", text: String(said) };
      return { kind: "other", value: value(said) };
    }
    function entry(item) {
      level++;
      const found = described(item);
      const { natural, skip = () => false, ...rest } = found;
      const members = [];
      for (const key of ownKeys(item)) {
        const property = getOwnPropertyDescriptor(item, key);
        const hidden = found.kind === "error" ? key === "cause" || key === "errors" : shown?.showHidden && found.kind === "object";
        if ((!property?.enumerable && !hidden) || skip(key)) continue;
        const name = typeof key === "symbol" ? value(key) : key;
        let ways = "value" in property ? "" : `${property.get ? "g" : ""}${property.set ? "s" : ""}`;
        let held = property.value;
        try {
          if (ways !== "" && getters) held = item[key];
        } catch (error) {
          if (shown === undefined) throw error;
          ways += "!";
          held = error;
        }
        members.push([name, value(held), ways, property.enumerable]);
      }
      const prototype = getPrototypeOf(item);
      const proto = prototype === natural ? undefined : prototype === null ? null : { id: identityOf(prototype), name: constructorName(item) };
      level--;
      return { ...rest, own: members, proto };
    }
    /** What kind of object it is, and the prototype that such have. */
    function described(item) {
      if (typeof item === "function") return describedFunction(item);
      if (Array.isArray(item)) return { kind: "array", natural: Array.prototype, length: item.length, items: Object.keys(item).filter(isIndex).map((key) => [Number(key), value(item[key])]), skip: isIndex };
      if (isMap(item)) return { kind: "map", natural: Map.prototype, items: [...Map.prototype.entries.call(item)].map(([key, inner]) => [value(key), value(inner)]) };
      if (isSet(item)) return { kind: "set", natural: Set.prototype, items: [...Set.prototype.values.call(item)].map(value) };
      if (isDate(item)) return { kind: "date", natural: Date.prototype, value: Date.prototype.getTime.call(item) };
      if (isRegExp(item)) return { kind: "regexp", natural: RegExp.prototype, source: item.source, flags: item.flags };
      if (Error.isError(item)) return describedError(item);
      if (ArrayBuffer.isView(item)) {
        const name = item instanceof Buffer ? "Buffer" : typedName.call(item) ?? "DataView";
        return { kind: "bytes", natural: (name === "Buffer" ? Buffer : globalThis[name]).prototype, name, latin1: latin1Of(viewOf(item)), skip: isIndex };
      }
      if (isMemory(item)) return { kind: "bytes", natural: ArrayBuffer.prototype, name: "ArrayBuffer", latin1: latin1Of(viewOf(item)) };
      if (isWeakMap(item)) return { kind: "weak", natural: WeakMap.prototype, name: "WeakMap", id: identityOf(item) };
      if (isWeakSet(item)) return { kind: "weak", natural: WeakSet.prototype, name: "WeakSet", id: identityOf(item) };
      const box = boxOf(item);
      if (box !== undefined) return { kind: "boxed", natural: globalThis[box].prototype, value: value(globalThis[box].prototype.valueOf.call(item)), skip: box === "String" ? isIndex : undefined };
      if (toStringOf(item) === "[object Arguments]") return { kind: "arguments", natural: Object.prototype, items: Array.from(item, value), skip: isIndex };
      const label = item[Symbol.toStringTag];
      const isOwn = getOwnPropertyDescriptor(item, Symbol.toStringTag)?.enumerable === true;
      return { kind: "object", natural: Object.prototype, ...(typeof label === "string" && label !== "" && !isOwn ? { label } : {}) };
    }
    function describedFunction(item) {
      const isClass = /^class\b/.test(textOf(item));
      const parent = getPrototypeOf(item);
      const flavour = Object.hasOwn(item, "prototype") || isClass ? toStringOf(item).slice(8, -1) : toStringOf(item).slice(8, -1).replace(/^Function$/, "Method");
      const above = isClass && typeof parent === "function" ? String(parent.name) : "";
      // A prototype that is a function is told by `above`.
      return { kind: "function", natural: parent, id: identityOf(item), name: String(item.name), isClass, flavour, above };
    }
    function describedError(item) {
      const name = ERRORS.find((each) => item instanceof globalThis[each]) ?? "Error";
      return { kind: "error", natural: globalThis[name].prototype, name, message: String(item.message), stack: String(item.stack) };
    }

    return JSON.stringify({ values: roots.map(value), table });
  };
})
