/** The images that the sandbox makes for each engine, a line each. No program of the operator contains them. */
import type { ImageRecipe } from '../engine/image-recipe.ts';
import { etcdImages } from './etcd/images.ts';
import { redisImages } from './redis/images.ts';

export const images: readonly ImageRecipe[] = [...redisImages, ...etcdImages];
