/** The version that the operator reports and puts in its User-Agent. A test holds it against package.json. */
export const version = '0.1.0';
