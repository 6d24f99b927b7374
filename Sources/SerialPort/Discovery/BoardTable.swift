/// The VID:PIDs of adapters and boards, from Linux drivers (`ch341.c`, `ftdi_sio_ids.h`, `cp210x.c`, `pl2303.h`) and
/// from the `boards.txt` of Arduino's cores.
enum BoardTable {
    /// Vendor ID, product ID, and the name and ``Board/oftenOn`` of the board.
    static let products: [(UInt16, UInt16, String, String?)] = [
        // WCH
        (0x1A86, 0x7523, "CH340", "Arduino Nano clone"),
        (0x1A86, 0x7522, "CH340K", nil),
        (0x1A86, 0xE523, "CH330", nil),
        (0x1A86, 0x5523, "CH341", nil),
        (0x4348, 0x5523, "CH341", nil),
        (0x1A86, 0x55D2, "CH342", nil),
        (0x1A86, 0x55D3, "CH343", "ESP32-S3 board"),
        (0x1A86, 0x55D4, "CH9102", "ESP32 board"),
        (0x1A86, 0x55D5, "CH344", nil),
        // FTDI
        (0x0403, 0x6001, "FT232R", "Arduino Nano"),
        (0x0403, 0x6010, "FT2232", nil),
        (0x0403, 0x6011, "FT4232H", nil),
        (0x0403, 0x6014, "FT232H", nil),
        (0x0403, 0x6015, "FT230X", nil),
        // Silicon Labs
        (0x10C4, 0xEA60, "CP210x", "ESP32 board"),
        (0x10C4, 0xEA70, "CP2105", nil),
        (0x10C4, 0xEA71, "CP2108", nil),
        // Prolific
        (0x067B, 0x2303, "PL2303", nil),
        (0x067B, 0x23A3, "PL2303GC", nil),
        (0x067B, 0x23B3, "PL2303GB", nil),
        (0x067B, 0x23C3, "PL2303GT", nil),
        (0x067B, 0x23D3, "PL2303GL", nil),
        (0x067B, 0x23E3, "PL2303GE", nil),
        (0x067B, 0x23F3, "PL2303GS", nil),
        // Arduino
        (0x2341, 0x0001, "Arduino Uno", nil),
        (0x2341, 0x0010, "Arduino Mega 2560", nil),
        (0x2341, 0x003D, "Arduino Due", nil),
        (0x2341, 0x003E, "Arduino Due", nil),
        (0x2341, 0x0042, "Arduino Mega 2560", nil),
        (0x2341, 0x0043, "Arduino Uno", nil),
        (0x2341, 0x0058, "Arduino Nano Every", nil),
        (0x2341, 0x0069, "Arduino Uno R4 Minima", nil),
        (0x2341, 0x0070, "Arduino Nano ESP32", nil),
        (0x2341, 0x0243, "Arduino Uno", nil),
        (0x2341, 0x1002, "Arduino Uno R4 WiFi", nil),
        (0x2341, 0x8036, "Arduino Leonardo", nil),
        (0x2341, 0x8037, "Arduino Micro", nil),
        (0x2341, 0x8057, "Arduino Nano 33 IoT", nil),
        (0x2341, 0x805A, "Arduino Nano 33 BLE", nil),
        (0x2A03, 0x0042, "Arduino Mega 2560", nil),
        (0x2A03, 0x0043, "Arduino Uno", nil),
        // Espressif: the chip's own USB, the same for S3, C3, C6 and H2
        (0x303A, 0x1001, "ESP32-S3", "native USB of S3, C3, C6 and H2"),
        (0x303A, 0x0002, "ESP32-S2", nil),
        // Others
        (0x0483, 0x374B, "ST-Link", nil),
        (0x0483, 0x5740, "STM32", nil),
        (0x0D28, 0x0204, "DAPLink", "micro:bit"),
        (0x16C0, 0x0483, "Teensy", nil),
        (0x2E8A, 0x0005, "Raspberry Pi Pico", nil),
        (0x2E8A, 0x000A, "Raspberry Pi Pico", nil),
        (0x2E8A, 0x000C, "Raspberry Pi debug probe", nil),
        (0x04D8, 0x00DD, "MCP2221", nil),
        (0x04D8, 0x00DF, "MCP2200", nil),
    ]

    /// The name for other products of a vendor that makes only boards.
    static let vendors: [UInt16: String] = [
        0x2341: "Arduino", 0x2A03: "Arduino", 0x239A: "Adafruit board", 0x303A: "ESP32", 0x2E8A: "RP2040",
    ]
}
