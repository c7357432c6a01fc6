export default { name: "t", transform() { const key = {}; const map = new WeakMap([[key, "kept"]]); return [{ id: map.get(key), has: new WeakSet([key]).has({}) }] } }
