export class UnknownWorkspace extends Error {
  constructor(readonly nameOrId: string) {
    super(`There is no workspace "${nameOrId}".`);
    this.name = 'UnknownWorkspace';
  }
}
