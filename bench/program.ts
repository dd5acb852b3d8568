/** Runs a command with its arguments. A failure is one message, with the usage if the arguments are wrong. */
export async function runProgram(
  program: (args: string[]) => Promise<void>,
  usage: string,
): Promise<void> {
  try {
    await program(process.argv.slice(2));
  } catch (error) {
    const { code, message } = Object(error);
    const isUsage = String(code).startsWith('ERR_PARSE_ARGS') || String(message).startsWith('--');
    process.stderr.write(`${message}\n${isUsage ? `${usage}\n` : ''}`);
    process.exitCode = 1;
  }
}
