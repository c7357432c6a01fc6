export default {
  protocolVersion: 1,
  title: "Packing lists",
  version: "1.0.0",
  description: "Lists that are graded by how much of what matters they name.",
  license: "CC0-1.0",
  evals: ["evals/packing.ts"],
}
