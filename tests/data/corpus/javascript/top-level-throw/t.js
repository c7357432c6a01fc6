import "./lib/broken.js"
export default { name: "t", transform: () => [{ id: "x" }] }
