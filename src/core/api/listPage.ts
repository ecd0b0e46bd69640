import Type, { type Static, type TSchema } from 'typebox';
import { nullable, strict, text, whole } from './fields.ts';

export const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Results per page.' }),
);
export const page = {
  limit,
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, description: 'Results to skip.' }),
  ),
};
export const pageQuery = Type.Object(page, strict);
export type PageQuery = Static<typeof pageQuery>;

export const pagination = Type.Object({
  total: Type.Integer({ description: 'Exact number of results with these filters, at the same moment as data.' }),
  limit: whole('Results per page, as requested.'),
  offset: whole('Results skipped, as requested.'),
  hasMore: Type.Boolean({ description: 'Whether there are more results.' }),
});
export type Pagination = Static<typeof pagination>;

export const listOf = <T extends TSchema>(item: T) => Type.Object({ data: Type.Array(item), pagination });

export const cursor = Type.Optional(Type.String({ maxLength: 40, description: 'nextCursor of the previous page.' }));
export const feedQuery = Type.Object({ limit, cursor }, strict);
export type FeedQuery = Static<typeof feedQuery>;

export const feedPagination = Type.Object({
  limit: whole('Results per page, as requested.'),
  hasMore: Type.Boolean({ description: 'Whether there are more results.' }),
  nextCursor: nullable(text('Send it as cursor to get the next page; null on the last page.')),
});
export type FeedPagination = Static<typeof feedPagination>;

/** Feeds have cursors instead of a total, because counting gets slower as they grow. */
export const feedOf = <T extends TSchema>(item: T) =>
  Type.Object({ data: Type.Array(item), pagination: feedPagination });
