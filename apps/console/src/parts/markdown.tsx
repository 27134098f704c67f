import { lexer, type Token, type Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { texts } from '../texts/index.ts';
import classes from './markdown.module.css';

/** Text of a model as Markdown. Markup in it stays text, and images are shown as links, so that nothing is fetched. */
export function Markdown({ text }: { text: string }) {
  return <div className={classes.markdown}>{blocks(lexer(text))}</div>;
}

const blocks = (tokens: readonly Token[]): ReactNode =>
  tokens.map((token, at) => <Fragment key={at}>{block(token as MarkedToken)}</Fragment>);

type MarkedToken =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Table
  | Tokens.Hr
  | Tokens.Space
  | Tokens.Text
  | Tokens.HTML;

function block(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'space':
      return null;
    case 'hr':
      return <hr />;
    case 'heading':
      // Below the headings of the page.
      return <p className={classes.heading}>{inlines(token.tokens)}</p>;
    case 'paragraph':
      return <p>{inlines(token.tokens)}</p>;
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'list': {
      const items = token.items.map((item, at) => <li key={at}>{blocks(item.tokens)}</li>);
      return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return (
        <div className={classes.scroll} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {token.header.map((cell, at) => (
                  <th key={at}>{inlines(cell.tokens)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {token.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, place) => (
                    <td key={place}>{inlines(cell.tokens)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'text':
      return 'tokens' in token && token.tokens !== undefined ? inlines(token.tokens) : token.text;
    default:
      return (token as Token).raw;
  }
}

const inlines = (tokens: readonly Token[]): ReactNode =>
  tokens.map((token, at) => <Fragment key={at}>{inline(token)}</Fragment>);

function inline(token: Token): ReactNode {
  const { type, raw, text = raw, tokens = [] } = token as Tokens.Generic & { text?: string };
  switch (type) {
    case 'strong':
      return <strong>{inlines(tokens)}</strong>;
    case 'em':
      return <em>{inlines(tokens)}</em>;
    case 'del':
      return <del>{inlines(tokens)}</del>;
    case 'codespan':
      return <code>{text}</code>;
    case 'br':
      return <br />;
    case 'escape':
      return text;
    case 'text':
      return tokens.length > 0 ? inlines(tokens) : textOf(text);
    case 'link':
      return linked((token as Tokens.Link).href, inlines(tokens));
    case 'image':
      return linked((token as Tokens.Image).href, texts.output.imageLink(text));
    default:
      return raw;
  }
}

/** Other schemes could run a script. */
const linked = (href: string, children: ReactNode): ReactNode =>
  /^https?:\/\//i.test(href) ? (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    children
  );

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const textOf = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
