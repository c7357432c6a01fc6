export default { name: "t", transform: () => [{ id: "s", ["k\ud83d"]: 1 }] }
