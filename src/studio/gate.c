// Who may talk to the studio: names of hosts and origins (pages of other sites may not), and the token in the
// address.

#include "studio/gate.h"
#include "base/result.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

snwResult snwGate_Open(snwGate* gate, snwMessage* message)
{
    unsigned char random[snw_gateTokenLength / 2];
    *gate = (snwGate){0};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return snwFail(message, snw_errorIo, NULL, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof random; ++i)
        snprintf(gate->token + 2 * i, 3, "%02x", random[i]);
    return snw_ok;
}

snwResult snwGate_SetToken(snwGate* gate, const char* token, snwMessage* message)
{
    if (strspn(token, "0123456789abcdef") != snw_gateTokenLength || token[snw_gateTokenLength] != 0)
        return snwFail(message, snw_errorArgument, "take that of an address that the studio printed",
            "a token has %d digits 0-9 and a-f", (int)snw_gateTokenLength);
    memcpy(gate->token, token, snw_gateTokenLength);
    return snw_ok;
}

static bool IsHostLetter(char letter)
{
    return isalnum((unsigned char)letter) != 0 || (letter != 0 && strchr("-._:[]", letter) != NULL);
}

// "name", "name:8080", "1.2.3.4", "[::1]:8080"; a bare "::1" has no port.
static bool HasPort(const char* name)
{
    const char* colon = strrchr(name, ':');
    const char* bracket = strrchr(name, ']');
    if (colon == NULL || (bracket != NULL && colon < bracket))
        return false;
    return bracket != NULL || strchr(name, ':') == colon;
}

snwResult snwGate_Allow(snwGate* gate, const char* name, int port, snwMessage* message)
{
    // Letters of host names only, as browsers send them.
    if (gate->hostCount == snw_maxGateHosts)
        return snwFail(message, snw_errorArgument, NULL, "more than %d allowed hosts", (int)snw_maxGateHosts);
    size_t length = strlen(name), sound = 0;
    while (IsHostLetter(name[sound]))
        ++sound;
    if (length == 0 || length > 255 || sound != length)
        return snwFail(
            message, snw_errorArgument, "a name as the browser shows it: box.local, 10.0.0.7", "no host: '%s'", name);
    char* host = gate->hosts[gate->hostCount++];
    bool bare = strchr(name, ':') != NULL && name[0] != '[' && !HasPort(name); // an IPv6 address

    // As a browser writes it: with its port, unless that is the usual one; IPv6 in brackets.
    if (HasPort(name))
        snprintf(host, snw_maxGateHost, "%s", name);
    else if (port == 80) // browsers leave it out
        snprintf(host, snw_maxGateHost, bare ? "[%s]" : "%s", name);
    else
        snprintf(host, snw_maxGateHost, bare ? "[%s]:%d" : "%s:%d", name, port);

    for (char* letter = host; *letter != 0; ++letter)
        *letter = (char)tolower((unsigned char)*letter); // as browsers do
    return snw_ok;
}

bool snwGate_HasHost(const snwGate* gate, const char* text, size_t size)
{
    for (int i = 0; text != NULL && i < gate->hostCount; ++i)
        if (strlen(gate->hosts[i]) == size && memcmp(gate->hosts[i], text, size) == 0)
            return true;
    return false;
}

bool snwGate_HasOrigin(const snwGate* gate, const char* text, size_t size)
{
    static const char scheme[] = "http://";
    size_t length = sizeof scheme - 1;
    return text != NULL && size > length && memcmp(text, scheme, length) == 0 &&
           snwGate_HasHost(gate, text + length, size - length);
}

// Takes the same time wherever the first wrong letter is.
bool snwGate_HasToken(const snwGate* gate, const char* text, size_t size)
{
    if (text == NULL || size != snw_gateTokenLength)
        return false;
    unsigned difference = 0;
    for (size_t i = 0; i < snw_gateTokenLength; ++i)
        difference |= (unsigned char)text[i] ^ (unsigned char)gate->token[i];
    return difference == 0;
}
