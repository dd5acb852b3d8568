/** One curve: what grows, and what it costs. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  /** The file's name, without its ending. */
  readonly name: string;
  readonly title: string;
  readonly x: string;
  /** The x axis counts tens: for what should stay flat. What is to be linear needs a linear one. */
  readonly tens?: boolean;
  readonly y: string;
  readonly series: readonly Series[];
}
