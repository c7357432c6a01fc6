import * as all from "./all.js"
export default { name: "t", transform: () => [{ id: all.name, keys: Object.keys(all), tag: all[Symbol.toStringTag], space: all.left.name }] }
