export default { name: "t", transform() { /(\w)(\d)/.test("__a1__"); return [{ id: RegExp.$1, all: RegExp["$&"], left: RegExp.leftContext, nothing: RegExp.$3 }] } }
