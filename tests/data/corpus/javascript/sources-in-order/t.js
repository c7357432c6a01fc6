export default { name: "t", transform: ({ sources }) => Object.entries(sources).map(([id, { content }]) => ({ id, content })) }
