String.prototype.shout = function () { return `${this.toUpperCase()}!` }
Object.prototype.value = 7
Object.prototype.get = () => "got"
Object.prototype.enumerable = false
Array.prototype.map = function () { return ["patched"] }
export default { name: "t", transform: () => [{ id: "x".shout(), n: [1].map((x) => x) }] }
