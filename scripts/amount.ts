/** The only argument of a script, a number above 0. With 0 a script would do nothing and report success. */
export function amountOf(unit: string, usual: number): number {
  const [given = String(usual)] = process.argv.slice(2);
  const amount = Number(given);
  if (amount > 0 && Number.isFinite(amount)) return amount;
  process.stderr.write(`The ${unit} must be a number above 0, but got ${JSON.stringify(given)}\n`);
  process.exit(1);
}
