import { z } from 'zod';

export const encode = z
  .union([
    z.strictObject({
      envelope: z.string().min(1).describe('The member of the body whose value the caller’s bytes become.'),
      beside: z
        .array(z.string())
        .default([])
        .describe('Entries of the row’s `upstream` that stand before it.'),
    }),
    z.strictObject({
      form: z
        .strictObject({
          files: z
            .array(z.string())
            .default([])
            .describe('Members in base64 or a data: URL, which are sent as files.'),
        })
        .describe('Every member becomes a field of multipart/form-data.'),
    }),
    z.strictObject({
      references: z
        .strictObject({
          within: z.string().min(1).describe('The member of the body that holds the list of them.'),
          members: z
            .record(
              z.string(),
              z.strictObject({
                as: z.string().min(1).describe('What the entry is called there.'),
                list: z.literal(true).optional().describe('Each element is an entry.'),
              }),
            )
            .describe('The members of the input that are entries.'),
          settled: z
            .array(z.string().min(1))
            .default([])
            .describe('Members that are sent as false when the caller names them.'),
        })
        .describe('Members of the input become entries of one list.'),
    }),
    z.strictObject({
      set: z
        .record(z.string(), z.json())
        .describe(
          'Members that are the router’s own, whatever the caller names there; {uuid} in a text is a UUID of the run, the same in every try.',
        ),
      list: z.literal(true).optional().describe('The body is the one element of a list.'),
    }),
    z.strictObject({
      settled: z
        .array(z.string().min(1))
        .min(1)
        .describe('Members that are sent as false when the caller names them: answers come whole.'),
    }),
  ])
  .describe('How the caller’s bytes become the body; left out, they are the body.');
