const has = (name) => typeof globalThis[name] !== "undefined"
export default { name: "t", transform: () => [{ id: "f", weak: typeof WeakRef, code: has("WebAssembly"), document: typeof document }] }
