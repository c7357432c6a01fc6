export default { name: "t", transform: () => [{ id: "n", score: Math.log(0) }] }
