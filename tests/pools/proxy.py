"""A TCP proxy that holds what the client sends for a known time: PORT TARGET_PORT MILLISECONDS.

One way only, so that a round trip costs so much more, and no root and no tc are needed. It prints a
line as soon as it listens.
"""

import asyncio
import sys
from asyncio import StreamReader, StreamWriter

PIECE = 65536


async def pump(reader: StreamReader, writer: StreamWriter, seconds: float) -> None:
    """Every piece leaves ``seconds`` after it came, in its order, however many are on the way."""
    loop = asyncio.get_running_loop()
    try:
        while piece := await reader.read(PIECE):
            loop.call_later(seconds, writer.write, piece)
    except ConnectionError:
        pass
    loop.call_later(seconds, writer.close)


async def serve(port: int, target: int, seconds: float) -> None:
    async def accept(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, forth, seconds), pump(back, writer, 0.0))

    server = await asyncio.start_server(accept, "127.0.0.1", port)
    print("listening", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000))
