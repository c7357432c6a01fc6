/** Whether a text names an item, or more than one of it, as words of its own and in any letter case. */
export function mentions(text: string, item: string): boolean {
  const words = (value: string) => ` ${value.toLowerCase().replace(/[^a-z]+/g, " ").trim()} `
  return [item, `${item}s`].some((form) => words(text).includes(words(form)))
}
