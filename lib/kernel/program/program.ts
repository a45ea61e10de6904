/**
 * The three programs, and a letter for each program in tables.
 *
 * @module
 */

/** Letter of each program in the "used by" columns: discovery server, agent, node plugin installer. */
export const programLetters = {
  "pilot-discovery": "D",
  "pilot-agent": "A",
  "install-cni": "C",
} as const;

/** Name of a program, as typed on a command line. */
export type Program = keyof typeof programLetters;

/** Letter of a program: D, A or C. */
export type ProgramLetter<P extends Program = Program> = (typeof programLetters)[P];

/** The programs that use a setting or a metric, by letter. */
export type Users = "DAC" | "DA" | "DC" | "AC" | "D" | "A" | "C";

/** All programs, in the order of the tables. */
export const programs = Object.keys(programLetters) as Program[];

/** True when `users` names the program. */
export function usedBy(users: Users, program: Program): boolean {
  return users.includes(programLetters[program]);
}
