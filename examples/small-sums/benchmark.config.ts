export default {
  protocolVersion: 1,
  title: "Small sums",
  version: "1.0.0",
  description: "Additions of small numbers, which a very small model sometimes gets right.",
  license: "CC0-1.0",
  tags: ["arithmetic", "demo"],
  defaults: { limits: { maxOutputTokens: 20 } },
  evals: ["evals/sums.ts"],
}
