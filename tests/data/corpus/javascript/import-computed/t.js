export default { name: "t", transform: () => import("./" + "other.js").then((m) => [{ id: m.default }]) }
