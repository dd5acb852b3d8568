import type { ChildProcess } from 'node:child_process';

/** One question, one answer. A child that ends meanwhile is a failure: its silence would hold up the run for ever. */
export function askChild<T>(child: ChildProcess, question: object | string, who: string) {
  return new Promise<T>((resolve, reject) => {
    const ended = () => reject(new Error(`${who} must answer, but its process ended`));
    if (child.exitCode !== null || child.signalCode !== null) return ended();
    const answered = (answer: unknown) => {
      child.off('exit', ended);
      resolve(answer as T);
    };
    child.once('exit', ended);
    child.once('message', answered);
    child.send(question, (error) => {
      if (!error) return;
      child.off('exit', ended);
      child.off('message', answered);
      reject(error);
    });
  });
}
