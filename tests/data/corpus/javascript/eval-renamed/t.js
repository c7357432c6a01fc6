const { ["ev" + "al"]: run } = globalThis
export default { name: "t", transform: () => [{ id: String(run("1 + 1")) }] }
