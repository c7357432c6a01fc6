import x from "./%6fther.js"
export default { name: "t", transform: () => [{ id: x }] }
