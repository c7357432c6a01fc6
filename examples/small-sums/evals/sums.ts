export default {
  id: "sums",
  title: "Sums below thirty",
  systemPrompt: "You add two numbers. Reply with the sum and nothing else.",
  cases: "../data/sums.jsonl",
  // Each case brings its own pattern; this one stands for a case that would not.
  evaluate: { kind: "non_empty" },
}
