// Checks the conditions of a release, and writes the version into the files that state it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const quoted = '"([^"]+)"';
/** Each file that states the version, and the lines in which it does. */
const stated = [
  ['package.json', `^ {2}"version": ${quoted}`],
  ['package-lock.json', `^ {2}"version": ${quoted}`],
  ['package-lock.json', `^ {6}"version": ${quoted}`],
  ['libs/client/package.json', `^ {2}"version": ${quoted}`],
  ['libs/client/python/pyproject.toml', `^version = ${quoted}`],
  ['k8s/chart/Chart.yaml', '^version: (.+)$'],
  ['k8s/chart/Chart.yaml', '^appVersion: (.+)$'],
  ['k8s/chart/values.yaml', '^ {2}tag: (.+)$'],
  ['k8s/base/kustomization.yaml', '^ {4}newTag: (.+)$'],
  ['k8s/overlays/production/kustomization.yaml', '^ {4}newTag: (.+)$'],
  ['k8s/components/trial-providers/kustomization.yaml', '^ {4}newTag: (.+)$'],
].map(([file, pattern]) => ({ file, pattern: new RegExp(pattern, 'm') }));

/** Everything that stands in the way of a release with this version. */
export function problemsOf(version) {
  const problems = stated.flatMap(({ file, pattern }) => {
    const found = pattern.exec(readFileSync(file, 'utf8'))?.[1];
    return found === version
      ? []
      : [`${file} states ${found ?? 'no version'}; npm run release -- ${version} --prepare writes it`];
  });
  if (git('status', '--porcelain') !== '')
    problems.push('the working tree has changes that are not committed');
  if (git('tag', '--list', `v${version}`) !== '') problems.push(`the tag v${version} exists`);
  if (sectionOf(readFileSync('CHANGELOG.md', 'utf8'), version) === undefined)
    problems.push(`CHANGELOG.md has no section "## ${version}" with entries`);
  return [...new Set(problems)];
}

/** The text of a version's section in the change log; undefined if it has no entries. */
export function sectionOf(changelog, version) {
  const section = changelog
    .split(/^## /m)
    .find((each) => each === version || each.startsWith(`${version}\n`) || each.startsWith(`${version} `));
  return section && /^- /m.test(section) ? section.slice(section.indexOf('\n')).trim() : undefined;
}

/** The change log in which the entries of Unreleased are a section of the version, unless it has one already. */
function withSection(changelog, version, day) {
  const isNeeded =
    sectionOf(changelog, version) === undefined && sectionOf(changelog, 'Unreleased') !== undefined;
  return isNeeded
    ? changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} – ${day}`)
    : changelog;
}

/** Writes the version into every file that states it, and its section into the change log. Returns the changed files. */
export function writeVersion(version, day = new Date().toISOString().slice(0, 10)) {
  const changed = new Set();
  const before = readFileSync('CHANGELOG.md', 'utf8');
  const after = withSection(before, version, day);
  if (after !== before) {
    writeFileSync('CHANGELOG.md', after);
    changed.add('CHANGELOG.md');
  }
  for (const { file, pattern } of stated) {
    const before = readFileSync(file, 'utf8');
    const after = before.replace(pattern, (line, found) => line.replace(found, version));
    if (after === before) continue;
    writeFileSync(file, after);
    changed.add(file);
  }
  return [...changed];
}

function git(...words) {
  return execFileSync('git', words, { encoding: 'utf8' }).trim();
}
