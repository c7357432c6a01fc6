// Values that a realm has packed (`pack.js`), made again from the host's own classes.
import { inspect } from "node:util";

const FUNCTIONS = {
  __proto__: null,
  Function: () => function () {},
  Method: () => () => {},
  AsyncFunction: () => async function () {},
  GeneratorFunction: () => function* () {},
  AsyncGeneratorFunction: () => async function* () {},
};

/** Own, but nothing that shows. */
const hide = (object, key, value) => Object.defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });

/** A function or class by a name of the realm's. */
function named(name, made) {
  return Object.defineProperty(made, "name", { value: name, configurable: true });
}

class Unpacking {
  #table;
  #made = [];
  #symbols = new Map();
  #prototypes = new Map();
  #functions = new Map();
  #weak = new Map();

  constructor(table) {
    this.#table = table;
  }

  value(packed) {
    if (!Array.isArray(packed)) return packed;
    const [tag, first, second] = packed;
    switch (tag) {
      case "u": return undefined;
      case "n": return first === "-0" ? -0 : Number(first);
      case "b": return BigInt(first);
      case "s":
        if (!this.#symbols.has(first)) this.#symbols.set(first, Symbol(second));
        return this.#symbols.get(first);
      default: return this.#object(first);
    }
  }

  #object(index) {
    if (index in this.#made) return this.#made[index];
    const entry = this.#table[index];
    if (entry.kind === "other") return (this.#made[index] = this.value(entry.value));
    const result = (this.#made[index] = this.#blank(entry));
    if (entry.kind === "said") return result;
    if (entry.proto === null) Object.setPrototypeOf(result, null);
    else if (entry.proto !== undefined) Object.setPrototypeOf(result, this.#prototype(entry.proto, Object.getPrototypeOf(result)));
    if (entry.kind === "map") for (const [key, inner] of entry.items) Map.prototype.set.call(result, this.value(key), this.value(inner));
    else if (entry.kind === "set") for (const inner of entry.items) Set.prototype.add.call(result, this.value(inner));
    else if (entry.kind === "array") for (const [at, inner] of entry.items) Object.defineProperty(result, at, { value: this.value(inner), writable: true, enumerable: true, configurable: true });
    if (entry.label !== undefined) hide(result, Symbol.toStringTag, entry.label);
    for (const [key, packed, ways, enumerable] of entry.own) {
      const name = Array.isArray(key) ? this.value(key) : key;
      const held = this.value(packed);
      if (ways === "") Object.defineProperty(result, name, { value: held, writable: true, enumerable, configurable: true });
      else Object.defineProperty(result, name, { get: ways.includes("!") ? () => { throw held; } : ways.includes("g") ? () => held : undefined, set: ways.includes("s") ? () => {} : undefined, enumerable, configurable: true });
    }
    return result;
  }

  /** One prototype for each of the realm's, below what the host's object inherits from. */
  #prototype({ id, name }, above) {
    if (!this.#prototypes.has(id)) {
      const made = Object.create(name === null ? null : above);
      if (name !== null) {
        const constructor = named(name, function () {});
        constructor.prototype = made;
        hide(made, "constructor", constructor);
      }
      this.#prototypes.set(id, made);
    }
    return this.#prototypes.get(id);
  }

  #blank(entry) {
    const memory = () => {
      const { buffer, byteOffset, length } = Buffer.from(entry.latin1, "latin1");
      return buffer.slice(byteOffset, byteOffset + length);
    };
    switch (entry.kind) {
      case "array": return new Array(entry.length);
      case "map": return new Map();
      case "set": return new Set();
      case "date": return new Date(entry.value === null ? NaN : entry.value);
      case "regexp": return new RegExp(entry.source, entry.flags);
      case "bytes": return entry.name === "ArrayBuffer" ? memory() : entry.name === "Buffer" ? Buffer.from(memory()) : new globalThis[entry.name](memory());
      case "error": return this.#error(entry);
      case "function": return this.#function(entry);
      case "boxed": return Object(this.value(entry.value));
      case "arguments": return (function () { return arguments; })(...entry.items.map((item) => this.value(item)));
      case "weak":
        if (!this.#weak.has(entry.id)) this.#weak.set(entry.id, new globalThis[entry.name]());
        return this.#weak.get(entry.id);
      case "said": return { [inspect.custom]: () => entry.text };
      default: return {};
    }
  }

  #error({ name, message, stack }) {
    const error = name === "AggregateError" ? new AggregateError([], message) : new globalThis[name](message);
    if (name === "AggregateError") delete error.errors;
    error.stack = stack;
    return error;
  }

  #function({ id, name, isClass, flavour, above }) {
    if (!this.#functions.has(id)) {
      const made = named(name, isClass ? class {} : (FUNCTIONS[flavour] ?? FUNCTIONS.Function)());
      if (above !== "") Object.setPrototypeOf(made, named(above, function () {}));
      this.#functions.set(id, made);
    }
    return this.#functions.get(id);
  }
}

export function unpack(text) {
  const { values, table } = JSON.parse(text);
  const unpacking = new Unpacking(table);
  return values.map((value) => unpacking.value(value));
}
