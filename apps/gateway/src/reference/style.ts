/** The style sheet of the reference page; light and dark as the reader's system is. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2127; --soft: #5c6773; --line: #dfe3e8; --paper: #fff; --side: #f6f7f9;
  --code: #f0f2f5; --link: #0b5cad; --get: #0b6e4f; --post: #8a4b08; --put: #5b3aa8; --bad: #a4262c; --good: #0b6e4f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --soft: #9aa5b1; --line: #323a43; --paper: #15191e;
  --side: #1b2026; --code: #242b33; --link: #7db8f5; --get: #5fd0a5; --post: #e8a866; --put: #b79df0; --bad: #f08a8f;
  --good: #5fd0a5; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; background: var(--side);
  border-right: 1px solid var(--line); font-size: .82rem; }
nav a { display: block; color: inherit; text-decoration: none; padding: .12rem .4rem; border-radius: 4px; overflow-wrap: anywhere; }
nav li a { display: grid; grid-template-columns: 2.9rem 1fr; font-family: ui-monospace, monospace; font-size: .76rem; line-height: 1.35; padding: .22rem .4rem; }
nav a:hover, nav a:focus-visible { background: var(--code); }
nav .title { margin-top: .8rem; font-weight: 650; }
nav ul { list-style: none; margin: .15rem 0 0; padding: 0; }
main { padding: 2rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 72rem; }
h1 { font-size: 1.9rem; margin: 0 0 .6rem; }
h2 { font-size: 1.4rem; margin: 3rem 0 .4rem; padding-top: .8rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.08rem; margin: 0 0 .3rem; }
h4 { font-size: .8rem; margin: 1.1rem 0 .3rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); }
p { margin: .4rem 0; max-width: 46rem; }
.lead, .who, small { color: var(--soft); }
section { margin: 1.6rem 0; padding: 1.2rem 1.3rem; border: 1px solid var(--line); border-radius: 8px; }
section:target, span:target { outline: 2px solid var(--link); }
.line { max-width: none; } .line code { font-size: .95rem; overflow-wrap: anywhere; }
.who { margin-left: .6rem; font-size: .82rem; white-space: nowrap; }
code { font: .86em ui-monospace, SFMono-Regular, Menlo, monospace; background: var(--code); padding: .08em .32em; border-radius: 4px; overflow-wrap: anywhere; }
a { color: var(--link); }
.bucket, a.shape { font: .84em ui-monospace, monospace; text-decoration: none; } .bucket:hover, a.shape:hover { text-decoration: underline; }
.bucket { color: var(--bad); margin-right: .3rem; }
.method { font: 700 .74rem ui-monospace, monospace; } nav .method { font-size: .68rem; line-height: 1.5; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
table { width: 100%; border-collapse: collapse; font-size: .88rem; }
th { text-align: left; font-weight: 600; color: var(--soft); }
th, td { padding: .4rem .7rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td:first-child { min-width: 9rem; } .facts td:nth-child(2) { width: 28%; } .facts td:first-child { width: 24%; } .answers td:first-child { min-width: 3.5rem; }
.answers th:first-child { width: 4.5rem; } .answers th:nth-child(3) { width: 28%; } .answers th:nth-child(4) { width: 25%; }
.answers td, .answers small { font-size: .85rem; } small { font-size: .8rem; }
.s2, .s3 { color: var(--good); } .s4, .s5 { color: var(--bad); }
@media (max-width: 60rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  table { display: block; overflow-x: auto; } }
@media print { nav { display: none; } body { display: block; } section { break-inside: avoid; } }
`;
