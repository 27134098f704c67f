if (process.argv[2] === 'guard') {
  // The same program in its other role: a child that stops Postgres and Redis when its owner has gone.
  const { serveGuard } = await import('./embedded/guard-process.js');
  serveGuard();
} else {
  const { launch } = await import('./launcher.js');
  process.exit(await launch(process.env));
}
