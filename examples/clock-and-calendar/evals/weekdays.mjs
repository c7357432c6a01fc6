const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

export default {
  id: "weekdays",
  title: "Which day is it then?",
  systemPrompt: "Reply with the name of a weekday and nothing else.",
  cases: [1, 3, 10, 100].map((ahead, n) => ({
    id: `ahead-${ahead}`,
    prompt: `Today is ${days[n]}. Which weekday is it in ${ahead} ${ahead === 1 ? "day" : "days"}?`,
    evaluate: { kind: "exact", expected: days[(n + ahead) % 7], ignoreCase: true },
  })),
  evaluate: { kind: "non_empty" },
}
