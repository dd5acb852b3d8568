const MOST_QUESTIONS = 2_500;
const MOST_CHARACTERS = 2_000_000;

/** True for what was asked not long ago. Two sets take turns at being the old one, which is cheaper than an order. */
export function createQuestions(): (question: string) => boolean {
  let recent = new Set<string>();
  let older = new Set<string>();
  let characters = 0;

  return (question) => {
    if (recent.has(question)) return true;
    if (recent.size >= MOST_QUESTIONS || characters >= MOST_CHARACTERS) {
      [older, recent, characters] = [recent, new Set(), 0];
    }
    recent.add(question);
    characters += question.length;
    return older.has(question);
  };
}
