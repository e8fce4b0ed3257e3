/* The grammars' engine; without this file, all grammars would be bundled with it. */

import { createLowlight } from "lowlight";

export const lowlight = createLowlight();
