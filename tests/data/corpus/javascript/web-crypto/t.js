export default { name: "t", transform: () => [{ id: crypto.getRandomValues(new Uint8Array(4)).join() }] }
