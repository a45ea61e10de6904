/**
 * The form of SARIF 2.1.0, as far as the logs of `check` use SARIF.
 *
 * @module
 */
import { z } from "zod";

/** Lists without duplicates, as the schema of SARIF demands for some lists. */
const distinct = <T>(list: z.ZodType<T[]>) =>
  list.refine((all) => new Set(all.map((one) => JSON.stringify(one))).size === all.length, "holds something twice");

/**
 * The demands of the schema of SARIF 2.1.0 on the parts of our logs, and the parts used by common readers. Every part
 * is strict: the schema allows no other parts.
 */
export const sarifForm = z.strictObject({
  $schema: z.string().url(),
  version: z.literal("2.1.0"),
  runs: z.array(z.strictObject({
    tool: z.strictObject({
      driver: z.strictObject({
        name: z.string(),
        semanticVersion: z.string().regex(/^\d+\.\d+\.\d+/),
        rules: distinct(z.array(z.strictObject({
          id: z.string(),
          name: z.string().regex(/^[A-Z]\w+$/),
          shortDescription: z.strictObject({ text: z.string().min(1) }),
          fullDescription: z.strictObject({ text: z.string().min(1) }),
          help: z.strictObject({ text: z.string().min(1) }),
          properties: z.strictObject({ tags: distinct(z.array(z.string())) }).optional(),
        }))),
      }),
    }),
    columnKind: z.enum(["utf16CodeUnits", "unicodeCodePoints"]),
    results: z.array(z.strictObject({
      ruleId: z.string(),
      ruleIndex: z.int().min(0),
      level: z.enum(["error", "warning", "note", "none"]),
      message: z.strictObject({ text: z.string().min(1) }),
      locations: distinct(z.array(z.strictObject({
        physicalLocation: z.strictObject({
          artifactLocation: z.strictObject({ uri: z.string().regex(/^[^\s\\]+$/) }),
          region: z.strictObject({
            startLine: z.int().min(1),
            startColumn: z.int().min(1).optional(),
            endColumn: z.int().min(1).optional(),
          }).optional(),
        }).optional(),
        logicalLocations: distinct(z.array(z.strictObject({ fullyQualifiedName: z.string(), kind: z.string() })))
          .optional(),
      }))),
      partialFingerprints: z.record(z.string(), z.string()),
    })),
  })).length(1),
});
