/** Which version of a package its users load, as far as they can show it. */

/** `import.meta` of the file that imports the package, or the package's own `package.json`. */
export type Loaded =
  | { readonly url: string; readonly resolve?: (specifier: string) => string }
  | { readonly name: string; readonly version: string };

interface Builtins {
  getBuiltinModule?: (name: string) => unknown;
}

/** The version that is loaded, or why that is not known. */
export function versionOf(name: string, loaded: Loaded | undefined): string | Error {
  try {
    const found = loaded !== undefined && "version" in loaded ? loaded : manifestBy(name, loaded);
    if (found.name !== name) return new Error(`that is the package.json of ${found.name}`);
    return found.version;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The `package.json` of what a file imports by this name; only Node can look. */
function manifestBy(name: string, meta: { url: string } | undefined): Manifest {
  if (meta === undefined) throw new Error("nothing was passed");
  const { process } = globalThis as { process?: Builtins };
  const module = process?.getBuiltinModule?.("node:module") as Module | undefined;
  if (module === undefined) throw new Error("only Node 20.16 or later can look it up");
  return module.createRequire(meta.url)(`${name}/package.json`) as Manifest;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

interface Module {
  createRequire(from: string): (specifier: string) => unknown;
}
