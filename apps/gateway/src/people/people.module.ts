import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { IdentityProvider } from './identity-provider.js';
import { PeopleController } from './people.controller.js';

/** Sign-in to the console through the operator's identity provider. */
@Module({
  imports: [InfrastructureModule],
  controllers: [PeopleController],
  providers: [IdentityProvider],
})
export class PeopleModule {}
