/** Names and values of labels, as patterns that the API server checks. */

/** The name of a label, an annotation or a taint: with a DNS name and a slash before it, or without. */
export const labelName = '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';

/** The value of a label. It may be empty. The length, 63, is a bound of its own. */
export const labelValue = '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$';
