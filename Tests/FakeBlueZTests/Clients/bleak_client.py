"""Find the pump with bleak, ask for its status and its temperatures, and disconnect.

Prints the services' short UUIDs, then each reply, reassembled, on its own line.
"""

import asyncio

from bleak import BleakClient, BleakScanner

LINE = "0000ffe1-0000-1000-8000-00805f9b34fb"


async def main():
    device = await BleakScanner.find_device_by_filter(lambda device, _: device.name == "HMSoft")
    heard = asyncio.Queue()
    async with BleakClient(device) as client:
        print([service.uuid[4:8] for service in client.services], flush=True)
        await client.start_notify(LINE, lambda _, data: heard.put_nowait(bytes(data)))
        for command in ("STATUS", "TEMP"):
            await client.write_gatt_char(LINE, (command + "\n").encode(), response=False)
            answer = b""
            while not answer.endswith(b"\r\n"):
                part = await heard.get()
                assert len(part) <= 20
                answer += part
            print(answer.decode().strip(), flush=True)


asyncio.run(main())
