extension ModuleDialect {
    /// All known dialects. The first one belongs to the module that the others imitate.
    package static let all = [hm10, cc41a, mltbt05]

    /// The dialect of the genuine HM-10, by Jinan Huamao.
    ///
    /// * Commands, answers, codes and the 12 bytes of a name: the maker's datasheet, V527 to V605
    ///   (de.scribd.com/document/376692188), and github.com/zubial/arduino-serial/wiki/Bluetooth-HM-10-AT-Commands. By
    ///   the same sources, `AT` while connected disconnects, and is answered `OK+LOST` only if `AT+NOTI` is 1; the
    ///   default is 0.
    /// * Older firmware answers `OK+LADD:` (wiki.seeedstudio.com/Bluetooth_V4.0_HM_11_BLE_Module); some sheets have
    ///   `OK+NOTI:`, `OK+ROLE:` and `OK+NAME`.
    /// * At 1200 baud, the module takes no command after the next power-on (Seeed's Grove BLE manual, on code 7).
    /// * The module restarts 500 ms after `OK+RESET` (Seeed). The sheets say that a new rate needs a restart; programs
    ///   send `AT+BAUD`, then `AT+RESET`.
    /// * The answer to an unknown command is not documented. By all reports there is none.
    package static let hm10 = ModuleDialect(
        name: "hm-10", title: "HM-10 (Jinan Huamao)", commandEnd: "", lineEnd: "",
        version: Query(command: "AT+VERS?", answers: [""]), versionMarks: ["hmsoft"],
        address: Query(command: "AT+ADDR?", answers: ["OK+ADDR:", "OK+LADD:"]),
        role: Query(command: "AT+ROLE?", answers: ["OK+Get:", "OK+ROLE:"]),
        deviceName: Setting(
            query: Query(command: "AT+NAME?", answers: ["OK+NAME:", "OK+NAME"]), set: "AT+NAME",
            confirmation: "OK+Set:"),
        longestName: 12,
        baud: Setting(
            query: Query(command: "AT+BAUD?", answers: ["OK+Get:"]), set: "AT+BAUD", confirmation: "OK+Set:"),
        baudRates: [
            ("0", 9600), ("1", 19200), ("2", 38400), ("3", 57600), ("4", 115_200), ("5", 4800), ("6", 2400),
            ("7", 1200), ("8", 230_400),
        ],
        ratesWithoutReturn: [1200], rateChange: .afterReset, afterChange: nil,
        reset: ("AT+RESET", ["OK+RESET"]), refusal: nil,
        notices: Notices(
            setting: Setting(
                query: Query(command: "AT+NOTI?", answers: ["OK+Get:", "OK+NOTI:"]), set: "AT+NOTI",
                confirmation: "OK+Set:"),
            connected: "OK+CONN", lost: "OK+LOST"),
        testDisconnects: true, factory: ("HMSoft V540", "HMSoft"), addressHasColons: false)

    /// The dialect of Bolutek's clone, and of others with its firmware.
    ///
    /// * CR LF after a command, and `OK` CR LF as the answer: github.com/ayavilevich/arduino-ble-ident-n-set tells the
    ///   module from an HM-10 by them. A module of V3.0.6 has answered `+NAME=BT05`, `+LADDR=00:15:83:31:46:CB`,
    ///   `+BAUD=4` (at 9600 baud), `+NOTI=0`, `+ROLE=0`, and `ERROR=102` to a command that it did not take. One program
    ///   has seen an `OK` after `+VERSION=…`, two have not.
    /// * A change is answered with the value and `OK` (`+NAME=trainctl`, `OK`: a driver for a train). Codes 4, 7 and 8
    ///   were seen in use with 9600, 57600 and 115200 baud; the others follow from them, and match Bolutek's other
    ///   modules. `AT+BAUD7` took effect at once in a driver that asks for the version at the new rate 50 ms later;
    ///   others send `AT+RESET` as well.
    /// * `OK+CONN` and `OK+LOST` with a line end: the table of a driver for a module that also answers `AT+NOTI1` with
    ///   `+NOTI=1`, `OK`.
    /// * Not documented: the longest name, and the effect of a bare `AT` while connected, which is passed on as data
    ///   here.
    package static let cc41a = ModuleDialect(
        name: "cc41-a", title: "CC41-A (Bolutek)", commandEnd: "\r\n", lineEnd: "\r\n",
        version: Query(command: "AT+VERSION", answers: ["+VERSION="]), versionMarks: ["bluetooth v4.0 le", "bolutek"],
        address: Query(command: "AT+LADDR", answers: ["+LADDR=", "+ADDR="]),
        role: Query(command: "AT+ROLE", answers: ["+ROLE="]),
        deviceName: Setting(
            query: Query(command: "AT+NAME", answers: ["+NAME="]), set: "AT+NAME", confirmation: "+NAME="),
        longestName: nil,
        baud: Setting(query: Query(command: "AT+BAUD", answers: ["+BAUD="]), set: "AT+BAUD", confirmation: "+BAUD="),
        baudRates: [
            ("1", 1200), ("2", 2400), ("3", 4800), ("4", 9600), ("5", 19200), ("6", 38400), ("7", 57600),
            ("8", 115_200), ("9", 230_400),
        ],
        ratesWithoutReturn: [], rateChange: .atOnce, afterChange: "OK", reset: ("AT+RESET", ["+RESET", "OK"]),
        refusal: "ERROR=102",
        notices: Notices(
            setting: Setting(
                query: Query(command: "AT+NOTI", answers: ["+NOTI="]), set: "AT+NOTI", confirmation: "+NOTI="),
            connected: "OK+CONN", lost: "OK+LOST"),
        testDisconnects: false, factory: ("Firmware V3.0.6,Bluetooth V4.0 LE", "BT05"), addressHasColons: true)

    /// The dialect of the MLT-BT05, a clone of Bolutek's clone, which AT-09 and BT05 boards carry too.
    ///
    /// * Commands, answers, codes 0 to 4 and the 18 bytes of a name: "AT Instruction set V3.0"
    ///   (pdfkiwi.com/documents/at-instruction-set-5fc4810bccdd4). By this sheet, CR LF ends commands, and the module
    ///   takes them only before a central connects.
    /// * V4.2 and V4.4 answer `MLT-BT05-V4.4` without `+VERSION=` (github.com/HealthHackAu2018/asclepius); the sheet
    ///   has the prefix.
    /// * `ERROR` as the answer to a command that the module does not take: reddit.com/r/arduino/comments/1k2gtsp. By
    ///   its own `AT+HELP`, the module has no `AT+NOTI`.
    /// * Some firmware of V4 lists `AT+BAUD` and `AT+RESET` in its `AT+HELP`, some does not.
    /// * Not documented: the answer to `AT+RESET`, assumed to be Bolutek's; and the need for a restart after a new
    ///   rate, which guides state (blog.yavilevich.com/2017/03/mlt-bt05-ble-module-a-clone-of-a-clone).
    package static let mltbt05 = ModuleDialect(
        name: "mlt-bt05", title: "MLT-BT05", commandEnd: "\r\n", lineEnd: "\r\n",
        version: Query(command: "AT+VERSION", answers: ["", "+VERSION="]), versionMarks: ["mlt-bt05"],
        address: Query(command: "AT+LADDR", answers: ["+LADDR=", "+LADDR ="]),
        role: Query(command: "AT+ROLE", answers: ["+ROLE="]),
        deviceName: Setting(
            query: Query(command: "AT+NAME", answers: ["+NAME="]), set: "AT+NAME", confirmation: "+NAME="),
        longestName: 18,
        baud: Setting(query: Query(command: "AT+BAUD", answers: ["+BAUD="]), set: "AT+BAUD", confirmation: "+BAUD="),
        baudRates: [("0", 115_200), ("1", 57600), ("2", 38400), ("3", 19200), ("4", 9600)],
        ratesWithoutReturn: [], rateChange: .afterReset, afterChange: "OK", reset: ("AT+RESET", ["+RESET", "OK"]),
        refusal: "ERROR", notices: nil, testDisconnects: false, factory: ("MLT-BT05-V4.4", "MLT-BT05"),
        addressHasColons: true)
}
