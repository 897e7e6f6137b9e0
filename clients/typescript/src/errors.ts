/** What goes wrong, each kind with a class of its own. Whatever it is, the call does not run. */

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  /** What is wrong where; of a 409 without a wrong field its detail under its code. */
  errors?: { pointer: string; detail: string }[] | Record<string, string[]>;
}

/** The server refused: `problem.code` says why. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;
  /** After how many milliseconds to come back, at least, where it passes. */
  readonly wait: number;

  constructor(problem: Problem, wait = 0) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.problem = problem;
    this.wait = wait;
  }

  /** Whether trying again may help. */
  get passes(): boolean {
    const { status } = this.problem;
    return status === 408 || status === 429 || status >= 500;
  }
}

/** The server could not be reached for as long as the client is patient. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** An answer that does not fit the call it is about: it counts for nothing. */
export class MismatchError extends Error {
  override readonly name = "MismatchError";
}
