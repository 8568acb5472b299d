/**
 * Key of the advisory lock that payments share, and that blocking a user or an application takes alone: after its answer no payment
 * is reserved. Both hold it for one statement.
 */
export const SPENDING_LOCK = 7_274_829;
